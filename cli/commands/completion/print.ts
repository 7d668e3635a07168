import { invalid } from '../../../src/errors/app-error.ts';
import { verb } from '../../verb.ts';
import { SHELLS, scriptFor } from './scripts.ts';
import { describeTree } from './words.ts';

/** `svc completion`: a script that teaches a shell the commands and options. */
export const completion = verb<[shell: string], object>({
  configure: (command) => command.argument('<shell>', SHELLS.join(', ')),
  examples: [
    'source <(svc completion bash)',
    'svc completion zsh > ~/.zfunc/_svc',
    'svc completion fish > ~/.config/fish/completions/svc.fish',
  ],
  async run(cli, [shell]) {
    const script = scriptFor(shell);
    if (!script) throw invalid({ field: 'shell', description: `must be one of ${SHELLS.join(', ')}` });
    const { loadAll, makeProgram } = await import('../../program.ts');
    const program = makeProgram({ terminal: cli.terminal, env: cli.env });
    await loadAll(program);
    cli.terminal.out.write(script(describeTree(program)));
    return undefined;
  },
});
