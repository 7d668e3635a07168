import { hostName, isLoopback } from './addresses.ts';
import { type PeerUid, peerUid } from './peer-uid.ts';
import type { Site } from './site.ts';

/** The other end of a connection. */
export interface Peer {
  readonly address: string;
  /** 0 when unknown. */
  readonly port: number;
}

/** How a peer is shown to be a process of this user on this machine. */
export interface LocalProof {
  readonly port: () => number;
  /** The user that the daemon runs as; undefined where the kernel does not tell whose a socket is. */
  readonly ownUid: number | undefined;
  readonly uidOf: PeerUid;
}

/** The proof of this machine. On Linux a peer must belong to the daemon's own user. */
export function machineProof(port: () => number): LocalProof {
  const ownUid = process.platform === 'linux' ? process.getuid?.() : undefined;
  return { port, ownUid, uidOf: peerUid };
}

/**
 * Whether a request comes from a process of this user on this machine, with no proxy between: bound to
 * loopback and not published, called by a loopback name from a loopback address, nothing forwarded, the
 * socket ours.
 */
export function isLocalPeer(site: Site, request: Request, peer: Peer, proof: LocalProof): boolean {
  return (
    site.isLocalOnly &&
    isLoopback(hostName(site.hostOf(request))) &&
    isLoopback(peer.address) &&
    !isForwarded(request.headers) &&
    (proof.ownUid === undefined || proof.uidOf(peer.address, peer.port, proof.port()) === proof.ownUid)
  );
}

/** Whether a proxy has passed the request on (RFC 7239 and its forerunners). */
export function isForwarded(headers: Headers): boolean {
  for (const [name] of headers) {
    if (name.startsWith('x-forwarded-') || name === 'forwarded' || name === 'via' || name === 'x-real-ip')
      return true;
  }
  return false;
}
