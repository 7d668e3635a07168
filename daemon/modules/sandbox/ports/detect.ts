import { readdir, readFile, readlink } from 'node:fs/promises';
import { type Listener, listenersOf } from '../drivers/host/listeners.ts';

/** Something that listens in a sandbox, and who does. */
export interface Detected {
  readonly listener: Listener;
  /** The process as the sandbox sees it; 0 and '' when it is not found. */
  readonly pid: number;
  readonly process: string;
}

interface Owner {
  readonly pid: number;
  readonly process: string;
}

const MAX_PROCESSES = 8_192;
const MAX_DESCRIPTORS = 4_096;
const AT_ONCE = 32;

/**
 * What listens in the network of a sandbox whose first process is `init`, by what the kernel says about it on this
 * host: nothing in the sandbox is asked or trusted.
 */
export async function detectListeners(init: number): Promise<Detected[]> {
  const listeners = await listenersOf(init);
  const owners =
    listeners.length > 0 ? await ownersOf(init, new Set(listeners.map(({ inode }) => inode))) : new Map();
  return listeners
    .map((listener) => ({ listener, ...(owners.get(listener.inode) ?? { pid: 0, process: '' }) }))
    .sort(
      (a, b) => a.listener.port - b.listener.port || a.listener.protocol.localeCompare(b.listener.protocol),
    );
}

/** Who holds the sockets: the processes of the sandbox's own network are looked through. */
async function ownersOf(init: number, inodes: ReadonlySet<string>): Promise<Map<string, Owner>> {
  const owners = new Map<string, Owner>();
  const network = await linkOf(`/proc/${init}/ns/net`);
  if (network === '') return owners;
  const depth = (await nestedPids(init)).length;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).slice(0, MAX_PROCESSES);
  const look = async (pid: string) => {
    if ((await linkOf(`/proc/${pid}/ns/net`)) !== network) return;
    const held = (await socketsOf(pid)).filter((inode) => inodes.has(inode) && !owners.has(inode));
    if (held.length === 0) return;
    const inside = (await nestedPids(Number(pid)))[depth - 1] ?? 0;
    const owner = { pid: inside, process: await nameOf(pid) };
    for (const inode of held) owners.set(inode, owner);
  };
  for (let i = 0; i < pids.length && owners.size < inodes.size; i += AT_ONCE)
    await Promise.all(pids.slice(i, i + AT_ONCE).map(look));
  return owners;
}

async function socketsOf(pid: string): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(
    names.slice(0, MAX_DESCRIPTORS).map((name) => linkOf(`/proc/${pid}/fd/${name}`)),
  );
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
}

/** The numbers of a process, from this host's to that of its innermost namespace (NSpid of proc_pid_status(5)). */
async function nestedPids(pid: number): Promise<number[]> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return /^NSpid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/).map(Number) ?? [];
}

/** The name that a process gave itself: at most 15 bytes, and whatever it likes; what is no plain text is replaced. */
async function nameOf(pid: string): Promise<string> {
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return name.trimEnd().replace(/[\p{C}\p{Z}\uFFFD]/gu, (character) => (character === ' ' ? ' ' : '?'));
}

function linkOf(path: string): Promise<string> {
  return readlink(path).catch(() => '');
}
