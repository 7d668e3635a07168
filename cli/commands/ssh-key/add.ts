import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { sandboxSsh } from '../../../src/api/sandbox/ssh.ts';
import { fail, invalid } from '../../../src/errors/app-error.ts';
import type { Cli } from '../../cli.ts';
import { readText } from '../../context/private-file.ts';
import { showJson } from '../../ui/show.ts';
import { verb } from '../../verb.ts';

interface Options {
  name?: string;
  user?: string;
  json?: true;
}

/** Where people keep their keys, best first. */
const USUAL = ['id_ed25519.pub', 'id_ecdsa.pub', 'id_rsa.pub'];

/** `svc sandbox ssh-key add`: stores a public key, and prints its id. */
export const add = verb<[file: string | undefined], Options>({
  configure: (command) =>
    command
      .argument(
        '[file]',
        'Public key; ~/.ssh/id_ed25519.pub, id_ecdsa.pub or id_rsa.pub when absent, - for stdin',
      )
      .option('--name <name>', 'What to call it; its comment when absent')
      .option('--user <id>', 'Member whose key it is, for admins')
      .option('--json', 'Print JSON'),
  examples: ['svc sandbox ssh-key add', 'svc sandbox ssh-key add ~/.ssh/work.pub --name work'],
  async run(cli, [file], { name, user: userId, json }) {
    const publicKey = file === '-' ? await Bun.stdin.text() : readKey(cli, file);
    const client = await cli.client();
    const { key = {} } = await client.call(sandboxSsh.AddSSHKey, { body: { name, userId, publicKey } });
    if (json) showJson(cli, key);
    else cli.terminal.print(key.id ?? '');
    cli.terminal.note(`${key.keyType} ${key.fingerprint}`);
    return undefined;
  },
});

function readKey(cli: Cli, file: string | undefined): string {
  const folder = join(cli.env.HOME || homedir(), '.ssh');
  const path = file ?? USUAL.map((name) => join(folder, name)).find(existsSync);
  if (!path) throw fail('not_found', { what: 'public key in', id: folder });
  const text = readText(path);
  if (text === undefined) throw fail('not_found', { what: 'file', id: path });
  if (/PRIVATE KEY/.test(text))
    throw invalid({ field: 'file', description: `is a private key; give ${path}.pub` });
  return text;
}
