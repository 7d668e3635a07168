import { closeSync, openSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { fail } from '../../../../../src/errors/app-error.ts';
import { streamOf } from './connection.ts';
import { listenersOf } from './listeners.ts';
import { isAlive, type ProcessMark } from './process.ts';
import { connectSocket, makeSocketInNetwork, type SocketAddress, SyscallError } from './syscalls.ts';

const LOOPBACK = new Uint8Array([127, 0, 0, 1]);
const LOOPBACK_V6 = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
const CONNECT_MS = 5_000;
const ECONNREFUSED = 111;

/** This thread's own network, held open: the way back from every visit to another one. */
let home: number | undefined;

/**
 * Connects to a port in the network of a running process: at 127.0.0.1, else at the address that something there
 * listens on. Needs no address, route or process in that network.
 * Errors: failed_precondition when the process is gone, unavailable when nothing listens, not_configured without the right to enter.
 */
export async function dialNetworkOf(mark: ProcessMark, port: number): Promise<Duplex> {
  const first = await tryAddress(mark, { octets: LOOPBACK, port });
  if (first) return first;
  for (const octets of await listeningAddresses(mark.pid, port)) {
    const connection = await tryAddress(mark, { octets, port });
    if (connection) return connection;
  }
  if (!isAlive(mark)) throw gone();
  throw fail('nothing_listens', { port });
}

/** Where a port is listened on, other than at 127.0.0.1; `::` and `0.0.0.0` stand for the loopback. */
async function listeningAddresses(pid: number, port: number): Promise<Uint8Array[]> {
  const found = (await listenersOf(pid)).filter((one) => one.port === port);
  return found
    .map(({ octets }) =>
      octets.every((octet) => octet === 0) && octets.length === 16 ? LOOPBACK_V6 : octets,
    )
    .filter((octets) => octets.some((octet) => octet !== 0) && !isLoopback(octets));
}

function isLoopback(octets: Uint8Array): boolean {
  return octets.length === 4 && octets.every((octet, i) => octet === LOOPBACK[i]);
}

/** A connection; undefined when nobody takes it at this address. */
async function tryAddress(mark: ProcessMark, address: SocketAddress): Promise<Duplex | undefined> {
  const fd = socketInNetworkOf(mark, address.octets.length === 4 ? 4 : 6);
  try {
    await untilConnected(fd, address);
  } catch (error) {
    closeSync(fd);
    if (error instanceof SyscallError) return undefined;
    throw error;
  }
  return streamOf(fd);
}

async function untilConnected(fd: number, address: SocketAddress): Promise<void> {
  const end = Date.now() + CONNECT_MS;
  // Inside one machine the answer is there at the second asking; a full queue of the listener takes longer.
  for (let pause = 0; !connectSocket(fd, address); pause = Math.min(pause + 1, 50)) {
    if (Date.now() > end) throw new SyscallError('connect', ECONNREFUSED);
    if (pause > 0) await Bun.sleep(pause);
  }
}

/** A socket in the network of a process. */
function socketInNetworkOf(mark: ProcessMark, family: 4 | 6): number {
  home ??= openSync('/proc/thread-self/ns/net', 'r');
  const namespace = openNamespace(mark);
  try {
    return makeSocketInNetwork(namespace, home, family);
  } catch (error) {
    if (error instanceof SyscallError && error.call === 'setns') throw mayNot();
    throw error;
  } finally {
    closeSync(namespace);
  }
}

/** The process is looked at after its namespace was opened, so a later process with its number cannot stand in for it. */
function openNamespace(mark: ProcessMark): number {
  let fd: number;
  try {
    fd = openSync(`/proc/${mark.pid}/ns/net`, 'r');
  } catch (error) {
    if (!isAlive(mark)) throw gone();
    throw error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')
      ? mayNot()
      : error;
  }
  if (isAlive(mark)) return fd;
  closeSync(fd);
  throw gone();
}

function gone(): Error {
  return fail('failed_precondition', { message: 'The sandbox stopped.' });
}

function mayNot(): Error {
  return fail('not_configured', {
    message: 'Reaching ports of sandboxes needs root here: a process may enter their network only then.',
  });
}
