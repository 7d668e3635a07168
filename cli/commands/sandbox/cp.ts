import { invalid } from '../../../src/errors/app-error.ts';
import { copyDown, streamDown } from '../../copy/down.ts';
import { readPlace } from '../../copy/place.ts';
import { copyUp, streamUp } from '../../copy/up.ts';
import { verb } from '../../verb.ts';

/** `svc sandbox cp`: copies files and directories between this machine and a sandbox. */
export const cp = verb<[source: string, target: string], object>({
  about:
    'One side is box:/path, the other a path here, or - for stdin or stdout. A directory is copied with all that is in it; on stdout it is a tar archive. Modes are kept. Into a directory that exists, the source is copied under its name.',
  configure: (command) =>
    command
      .argument('<source>', 'What to copy: a path here, box:/path, or -')
      .argument('<target>', 'Where to: a path here, box:/path, or -'),
  examples: [
    'svc sandbox cp ./app box:/workspace',
    'svc sandbox cp box:/workspace/report.pdf .',
    'svc sandbox cp box:/workspace/app - | tar -t',
    'echo hello | svc sandbox cp - box:/workspace/hello.txt',
  ],
  async run(cli, [source, target]) {
    const [from, to] = [readPlace('source', source), readPlace('target', target)];
    const client = await cli.client();
    if (to.kind === 'remote' && from.kind !== 'remote') {
      const remote = { client, sandbox: to.sandbox };
      if (from.kind === 'stream') await streamUp(cli, Bun.stdin.stream(), remote, to.path);
      else await copyUp(cli, from.path, remote, to.path);
    } else if (from.kind === 'remote' && to.kind !== 'remote') {
      const remote = { client, sandbox: from.sandbox };
      if (to.kind === 'stream') await streamDown(cli, remote, from.path);
      else await copyDown(cli, remote, from.path, to.path);
    } else
      throw invalid({
        field: 'target',
        description: 'one side must be in a sandbox (box:/path), the other not',
      });
    return undefined;
  },
});
