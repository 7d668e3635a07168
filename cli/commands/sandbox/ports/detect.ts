import { sandboxPorts } from '../../../../src/api/sandbox/ports.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox ports detect`. */
export const detect = verb<[name: string], { json?: true }>({
  configure: (command) =>
    command.argument('<name>', 'Id or name of a sandbox').option('--json', 'Print JSON'),
  examples: ['svc sandbox ports detect box'],
  async run(cli, [name], { json }) {
    const client = await cli.client();
    const { ports: rows = [] } = await client.call(sandboxPorts.DetectListeningPorts, {
      params: { sessionId: name },
    });
    if (json) showJson(cli, rows);
    else {
      showList(cli, {
        rows,
        none: 'Nothing listens there.',
        columns: [
          { title: 'PORT', text: ({ port }) => port?.toString(), align: 'right' },
          { title: 'PROTOCOL', text: ({ protocol }) => protocol },
          { title: 'ADDRESS', text: ({ address }) => address },
          { title: 'PID', text: ({ pid }) => (pid ? String(pid) : ''), align: 'right' },
          { title: 'PROCESS', text: ({ process }) => process },
          { title: 'EXPOSED', text: ({ isExposed }) => (isExposed ? 'yes' : '') },
        ],
      });
    }
    return undefined;
  },
});
