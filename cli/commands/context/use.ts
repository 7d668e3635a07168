import { verb } from '../../verb.ts';

/** `svc context use`: makes a context the active one. */
export const use = verb<[name: string], object>({
  configure: (command) => command.argument('<name>', 'Name of a context'),
  examples: ['svc context use work'],
  async run(cli, [name]) {
    cli.contexts.use(name);
    cli.terminal.note(`Calls go to ${name} (${cli.contexts.get(name).apiUrl}).`);
    return undefined;
  },
});
