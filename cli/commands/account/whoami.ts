import { maskKey } from '../../../src/kit/redact.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';
import { identify } from './identity.ts';

/** `svc whoami`: who calls, and which daemon. */
export const whoami = verb<[], { json?: true }>({
  configure: (command) => command.option('--json', 'Print JSON'),
  examples: ['svc whoami', 'svc whoami --context work'],
  async run(cli, _, { json }) {
    const { url, credential, source, context } = cli.connection();
    const identity = await identify(await cli.client());
    const organization = identity?.organizations?.[0];
    const fields: Array<[string, string | undefined]> = [
      ['user', identity?.user?.email],
      ['userId', identity?.user?.id],
      ['org', organization?.name],
      ['orgId', organization?.id],
      ['role', organization?.role?.replace('ORGANIZATION_ROLE_', '').toLowerCase()],
      ['key', credential.apiKey && maskKey(credential.apiKey)],
      ['endpoint', url],
      ['context', context],
      ['from', source],
    ];
    if (json) showJson(cli, Object.fromEntries(fields));
    else showFields(cli, fields);
    return undefined;
  },
});
