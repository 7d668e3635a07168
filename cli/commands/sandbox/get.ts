import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import { showFields, showJson } from '../../ui/show.ts';
import { relativeTime } from '../../ui/time.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox get`. */
export const get = verb<[name: string], { json?: true }>({
  configure: (command) =>
    command.argument('<name>', 'Id or name of a sandbox').option('--json', 'Print JSON'),
  examples: ['svc sandbox get box', 'svc sandbox get box --json | jq .config'],
  async run(cli, [name], { json }) {
    const client = await cli.client();
    const { instance = {} } = await client.call(sandboxLifecycle.GetSandboxInstance, {
      params: { sandboxId: name },
    });
    if (json) {
      showJson(cli, instance);
      return undefined;
    }
    const when = (at: string | undefined) => at && `${at} (${relativeTime(at)})`;
    showFields(cli, [
      ['id', instance.id],
      ['name', instance.name],
      ['state', instance.lifecycleState],
      ['image', instance.image],
      ['backend', instance.backend],
      ['container', instance.containerId],
      ['session', instance.sessionId],
      ['created', when(instance.createdAt)],
      ['expires', when(instance.expiresAt)],
      ['stopped', when(instance.stoppedAt)],
      ['revivable until', when(instance.revivableUntil)],
      ['destroyed', instance.destroyReason],
      ['git', [instance.gitRepoUrl, instance.gitBranch, instance.gitCommitSha].filter(Boolean).join(' ')],
    ]);
    return undefined;
  },
});
