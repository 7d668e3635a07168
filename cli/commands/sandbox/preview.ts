import { sandboxPorts } from '../../../src/api/sandbox/ports.ts';
import { SECOND_MS } from '../../../src/kit/time.ts';
import { duration } from '../../args.ts';
import { openInBrowser } from '../../open-in-browser.ts';
import { showJson } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';
import { boxPort } from './ports/port.ts';

interface Options {
  expires?: number;
  open?: true;
  json?: true;
}

/** `svc sandbox preview`: prints a link to a port that expires. */
export const preview = verb<[name: string, port: number], Options>({
  about: 'Whoever has the link may open it until it expires; the port need not be exposed.',
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .argument('<port>', 'The port', boxPort)
      .option('--expires <duration>', 'How long it is good: 1s to 24h; 1h without this', duration)
      .option('--open', 'Open it in the browser')
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox preview box 3000', 'svc sandbox preview box 3000 --expires 10m --open'],
  async run(cli, [name, port], { expires, open, json }) {
    const client = await cli.client();
    const link = await client.call(sandboxPorts.CreatePreviewUrl, {
      params: { sandboxId: name },
      body: {
        port,
        ...(expires === undefined ? {} : { expires_in_seconds: Math.round(expires / SECOND_MS) }),
      },
    });
    if (json) showJson(cli, link);
    else cli.terminal.print(link.url);
    if (!json && cli.terminal.err.isTty) cli.terminal.note(`It expires ${relativeTime(link.expires_at)}.`);
    if (open) await openInBrowser(link.url);
    return undefined;
  },
});
