import { modelRoutes } from '../../../../src/api/gateway/model-routes.ts';
import { showJson, showList } from '../../../ui/show.ts';
import { relativeTime } from '../../../ui/time.ts';
import { verb } from '../../../verb.ts';

/** `svc model route list`. */
export const list = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc model route list'],
  async run(cli, _, { json }) {
    const client = await cli.client();
    const answer = await client.call(modelRoutes.ListModelRoutes, {});
    if (json) {
      showJson(cli, answer);
      return undefined;
    }
    showList(cli, {
      rows: answer.routes,
      none: 'There are no routes here. Make one: svc model route set NAME PROVIDER/MODEL...',
      columns: [
        { title: 'NAME', text: ({ name }) => name },
        { title: 'STRATEGY', text: ({ strategy }) => strategy },
        {
          title: 'TARGETS',
          text: ({ targets }) =>
            targets
              .map(
                ({ provider, model, weight = 1 }) => `${provider}/${model}${weight > 1 ? `=${weight}` : ''}`,
              )
              .join(', '),
        },
        {
          title: 'CHANGED',
          text: ({ updatedAt }) => relativeTime(updatedAt),
          raw: ({ updatedAt }) => updatedAt,
        },
      ],
    });
    return undefined;
  },
});
