import { sandboxCode } from '../../../../src/api/sandbox/code.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { verb } from '../../../verb.ts';

/** `svc sandbox contexts list`. */
export const list = verb<[name: string], { lang?: string; json?: true }>({
  configure: (command) =>
    command
      .argument('<name>', 'Id or name of a sandbox')
      .option('--lang <language>', 'Only those of this language')
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox contexts list box', 'svc sandbox contexts list box --lang python'],
  async run(cli, [name], { lang: language, json }) {
    const client = await cli.client();
    const contexts = await client.call(sandboxCode.ListCodeContexts, {
      params: { sandboxId: name },
      query: { language },
    });
    if (json) {
      showJson(cli, contexts);
      return undefined;
    }
    showList(cli, {
      rows: contexts,
      none: `No code context is open. Run something: svc sandbox run ${name} '1 + 1'`,
      columns: [
        { title: 'ID', text: ({ id }) => id },
        { title: 'LANGUAGE', text: ({ language }) => language },
      ],
    });
    return undefined;
  },
});
