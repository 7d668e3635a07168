import { readFileSync } from 'node:fs';
import { ipv4Octets } from './addresses.ts';

const ESTABLISHED = '01';
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/**
 * The user whose process holds the other end of a connection inside this machine, from the kernel's
 * table of sockets; undefined when it is not there.
 */
export type PeerUid = (address: string, port: number, localPort: number) => number | undefined;

/** Looks a peer up in /proc/net/tcp and tcp6 (proc_pid_net(5)). */
export const peerUid: PeerUid = (address, port, localPort) => {
  const forms = kernelForms(address).map((form) => `${form}:${hexPort(port)}`);
  for (const path of TABLES) {
    const uid = findUid(readTable(path), forms, hexPort(localPort));
    if (uid !== undefined) return uid;
  }
  return undefined;
};

function findUid(table: string, locals: readonly string[], remotePort: string): number | undefined {
  for (const line of table.split('\n')) {
    const [, local = '', remote = '', state, , , , uid] = line.trim().split(/\s+/);
    if (state === ESTABLISHED && locals.includes(local) && remote.endsWith(`:${remotePort}`))
      return Number(uid);
  }
  return undefined;
}

/** An address as the kernel writes it: 32-bit words with their bytes in the machine's (little-endian) order. */
function kernelForms(address: string): readonly string[] {
  const octets = ipv4Octets(address.replace(/^::ffff:/, ''));
  if (octets) {
    const word = [...octets].reverse().map(hexByte).join('');
    return [word, `0000000000000000FFFF0000${word}`];
  }
  return address === '::1' ? ['00000000000000000000000001000000'] : [];
}

function readTable(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

const hexByte = (byte: number) => byte.toString(16).toUpperCase().padStart(2, '0');
const hexPort = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');
