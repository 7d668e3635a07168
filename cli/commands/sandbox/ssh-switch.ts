import { sandboxSsh } from '../../../src/api/sandbox/ssh.ts';
import { type Verb, verb } from '../../verb.ts';
import { forEach } from './each.ts';

/** `svc sandbox ssh-enable`: lets people in by SSH. */
export const sshEnable = switchVerb('ssh-enable', true);

/** `svc sandbox ssh-disable`: lets nobody in by SSH, and ends the connections that are open. */
export const sshDisable = switchVerb('ssh-disable', false);

function switchVerb(name: string, enabled: boolean): Verb {
  return verb<[names: string[]], object>({
    configure: (command) => command.argument('<names...>', 'Ids or names of sandboxes'),
    examples: [`svc sandbox ${name} box`],
    async run(cli, [names]) {
      const client = await cli.client();
      return forEach(cli, names, enabled ? 'Turning SSH on for' : 'Turning SSH off for', (sandboxId) =>
        client.call(sandboxSsh.SetSandboxSSH, { params: { sandboxId }, body: { enabled } }),
      );
    },
  });
}
