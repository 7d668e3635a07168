import { sandboxSsh } from '../../../src/api/sandbox/ssh.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox ssh-info`: where and how to connect. */
export const sshInfo = verb<[name: string], { json?: true }>({
  configure: (command) =>
    command.argument('<name>', 'Id or name of a sandbox').option('--json', 'Print JSON'),
  examples: ['svc sandbox ssh-info box', 'svc sandbox ssh-info box --json | jq -r .connectionString'],
  async run(cli, [name], { json }) {
    const client = await cli.client();
    const info = await client.call(sandboxSsh.GetSandboxSSHInfo, { params: { sandboxId: name } });
    if (json) {
      showJson(cli, info);
      return undefined;
    }
    showFields(cli, [
      ['enabled', info.enabled ? 'yes' : 'no'],
      ['reason', info.message],
      ['host', info.host],
      ['port', String(info.port ?? '')],
      ['user', info.user],
      ['fingerprint', info.hostFingerprint],
      ['connect', info.enabled ? info.connectionString : undefined],
    ]);
    return undefined;
  },
});
