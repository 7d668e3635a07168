import type { ServerChannel, TcpipRequestInfo } from 'ssh2';
import type { Connection, SandboxDriver } from '../../drivers/driver.ts';
import type { LifecycleService } from '../../lifecycle/service.ts';
import type { Sandbox } from '../../tables.ts';
import type { Door } from '../door.ts';
import { PeerChannel } from './channel.ts';
import type { Peer } from './peer.ts';

/** What tunnels need of their surroundings. */
export interface TunnelParts {
  readonly door: Door;
  readonly driver: Pick<SandboxDriver, 'dial'>;
  readonly lifecycle: Pick<LifecycleService, 'touch'>;
}

const OWN_NAMES = ['localhost', '127.0.0.1', '::1', 'ip6-localhost'];

/**
 * Connects a forwarded port (`ssh -L`, `-D`) to the sandbox itself and to nothing else: what a sandbox may reach is
 * for its own network rules to say, not for whoever holds its token.
 */
export async function serveTunnel(
  accept: () => ServerChannel | undefined,
  reject: () => void,
  { destIP, destPort }: TcpipRequestInfo,
  peer: Peer,
  { door, driver, lifecycle }: TunnelParts,
): Promise<void> {
  const dial = async () => {
    const box = await door.use(peer.entry);
    if (!isItself(destIP, box) || destPort < 1 || destPort > 65_535) return undefined;
    return { box, far: await driver.dial(box.id, destPort) };
  };
  const found = await dial().catch(() => undefined);
  const raw = found && !peer.gone.aborted ? accept() : undefined;
  if (!found || !raw) {
    found?.far.destroy();
    return reject();
  }
  join(new PeerChannel(raw, peer.socket, peer.gone, raw), found.far, () => lifecycle.touch(found.box.id));
}

function isItself(host: string, { id, name }: Sandbox): boolean {
  const asked = host.toLowerCase();
  return OWN_NAMES.includes(asked) || asked === id || (name !== '' && asked === name.toLowerCase());
}

/** Carries bytes both ways. Each direction ends by itself; an error or a peer that leaves ends both. */
function join(channel: PeerChannel, far: Connection, used: () => void): void {
  let open = 2;
  const half = () => {
    if (--open === 0) void channel.close();
  };
  channel.gone.addEventListener('abort', () => far.destroy(), { once: true });
  if (channel.gone.aborted) far.destroy();
  channel.read(
    (bytes) => {
      used();
      return new Promise<void>((resolve) => far.write(bytes, () => resolve()));
    },
    () => {
      far.end();
      half();
    },
  );
  far.on('data', (bytes: Uint8Array) => {
    used();
    far.pause();
    void channel.write('stdout', bytes).finally(() => far.resume());
  });
  far.once('end', () => void channel.endOutput().finally(half));
  far.on('error', () => far.destroy());
  far.once('close', () => void channel.close());
}
