import { open } from 'node:fs/promises';

/** A TCP socket that waits for connections. */
export interface Listener {
  readonly protocol: 'tcp' | 'tcp6';
  readonly port: number;
  /** 4 octets, or 16. */
  readonly octets: Uint8Array;
  /** The socket's inode: `socket:[inode]` behind a descriptor is this one. */
  readonly inode: string;
}

/** The state LISTEN in /proc/net/tcp. */
const LISTEN = '0A';
/** The kernel lists what listens before what is connected, so the head of the file has all of it. */
const MAX_BYTES = 256 * 1024;
const MAX_LISTENERS = 1_024;

/** What listens in the network of a process, at most 1,024. Nothing when the process is gone. */
export async function listenersOf(pid: number): Promise<Listener[]> {
  const [v4, v6] = await Promise.all([head(`/proc/${pid}/net/tcp`), head(`/proc/${pid}/net/tcp6`)]);
  return [...parseListeners('tcp', v4), ...parseListeners('tcp6', v6)].slice(0, MAX_LISTENERS);
}

/** Reads the lines of /proc/net/tcp or tcp6 (proc_net_tcp(5)) that listen. */
export function parseListeners(protocol: 'tcp' | 'tcp6', text: string): Listener[] {
  const listeners: Listener[] = [];
  for (const line of text.split('\n')) {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [hex = '', port = ''] = local.split(':');
    if (state !== LISTEN || !/^([0-9A-F]{8}|[0-9A-F]{32})$/.test(hex) || !/^[0-9A-F]{4}$/.test(port))
      continue;
    listeners.push({ protocol, port: Number.parseInt(port, 16), octets: octetsOf(hex), inode });
  }
  return listeners;
}

/** The kernel prints an address as words of 32 bits in its own order, which is little-endian on what this runs on. */
function octetsOf(hex: string): Uint8Array {
  const octets = new Uint8Array(hex.length / 2);
  for (let i = 0; i < octets.length; i++) {
    const at = (i & ~3) + (3 - (i & 3));
    octets[i] = Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16);
  }
  return octets;
}

async function head(path: string): Promise<string> {
  try {
    const file = await open(path, 'r');
    try {
      const bytes = Buffer.alloc(MAX_BYTES);
      let length = 0;
      for (;;) {
        const { bytesRead } = await file.read(bytes, length, MAX_BYTES - length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return bytes.toString('latin1', 0, length);
    } finally {
      await file.close();
    }
  } catch {
    return '';
  }
}
