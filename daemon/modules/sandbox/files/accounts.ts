import { invalid } from '../../../../src/errors/app-error.ts';
import type { BoxFiles, FileStat } from './box-files.ts';

const MAX_TABLE = 1024 * 1024;
const MAX_ID = 2 ** 32 - 2;

/** Names of ids and ids of names, as one table of a sandbox has them. */
interface Table {
  readonly names: ReadonlyMap<number, string>;
  readonly ids: ReadonlyMap<string, number>;
}

const EMPTY: Table = { names: new Map(), ids: new Map() };

/** The lines of /etc/passwd or /etc/group: name, password, number. The first of several wins. */
export function parseTable(text: string): Table {
  const [names, ids] = [new Map<number, string>(), new Map<string, number>()];
  for (const line of text.split('\n')) {
    const [name = '', , number = ''] = line.split(':');
    if (name === '' || !/^\d{1,10}$/.test(number)) continue;
    if (!names.has(Number(number))) names.set(Number(number), name);
    if (!ids.has(name)) ids.set(name, Number(number));
  }
  return { names, ids };
}

interface Known {
  readonly stamp: string;
  readonly table: Table;
}

/** The users and groups of one sandbox, as its own files tell them now. */
export class Accounts {
  private readonly known = new Map<string, Known>();

  /** The names of an owner and a group; the number where there is none. */
  async namesOf(files: BoxFiles): Promise<(stat: FileStat) => { owner: string; group: string }> {
    const [users, groups] = await this.tables(files);
    return ({ uid, gid }) => ({
      owner: users.names.get(uid) ?? String(uid),
      group: groups.names.get(gid) ?? String(gid),
    });
  }

  /** The ids of an owner and a group; -1 where none is asked for. Errors: invalid_argument naming the field. */
  async idsOf(
    files: BoxFiles,
    field: string,
    { owner, group }: { owner?: string; group?: string },
  ): Promise<{ uid: number; gid: number }> {
    const [users, groups] = await this.tables(files);
    return { uid: idOf(users, `${field}.owner`, owner), gid: idOf(groups, `${field}.group`, group) };
  }

  private async tables(files: BoxFiles): Promise<[users: Table, groups: Table]> {
    return Promise.all([this.table(files, '/etc/passwd'), this.table(files, '/etc/group')]);
  }

  private async table(files: BoxFiles, path: string): Promise<Table> {
    try {
      const { inode, modifiedAt, size } = await files.stat(path);
      const stamp = `${inode} ${modifiedAt} ${size}`;
      const known = this.known.get(path);
      if (known?.stamp === stamp) return known.table;
      const table = parseTable(await readText(files, path));
      this.known.set(path, { stamp, table });
      return table;
    } catch {
      return EMPTY;
    }
  }
}

async function readText(files: BoxFiles, path: string): Promise<string> {
  const file = await files.open(path, { read: true });
  try {
    return new TextDecoder().decode(await file.read(0, MAX_TABLE));
  } finally {
    await file.close();
  }
}

function idOf(table: Table, field: string, name: string | undefined): number {
  if (name === undefined || name === '') return -1;
  const known = table.ids.get(name);
  if (known !== undefined) return known;
  if (/^\d{1,10}$/.test(name) && Number(name) <= MAX_ID) return Number(name);
  throw invalid({ field, description: `the sandbox has none that is called ${JSON.stringify(name)}` });
}
