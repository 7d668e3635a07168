import { verb } from '../../verb.ts';

/** `svc context remove`: forgets a context and its credential. */
export const remove = verb<[name: string], object>({
  configure: (command) => command.argument('<name>', 'Name of a context'),
  examples: ['svc context remove work'],
  async run(cli, [name]) {
    cli.contexts.remove(name);
    cli.terminal.note(`Removed ${name}.`);
    return undefined;
  },
});
