import type { App } from '../../../../app.ts';
import { type HostKey, loadHostKey } from '../host-key.ts';
import { type ListenerParts, type Listening, SshListener } from './listener.ts';

/** How the server can be reached, for a person. */
export type ServerState =
  | { readonly isUp: true; readonly host: string; readonly port: number; readonly key: HostKey }
  | { readonly isUp: false; readonly reason: string; readonly key?: HostKey };

/** The SSH server of the instance. That it cannot listen never keeps the daemon from starting. */
export class SshServer {
  private opening: Promise<ServerState> = Promise.resolve({ isUp: false, reason: 'the daemon is starting' });
  private listener: SshListener | undefined;
  private isStopped = false;

  constructor(private readonly parts: ListenerParts) {}

  /** Begins to listen; what came of it is in `state`. Nobody waits for it: loading the library takes a while. */
  start(): void {
    this.opening = this.open().catch((error: unknown) => {
      this.log.error('the SSH server could not be started', { error });
      return { isUp: false, reason: 'it could not be started; the log says why' };
    });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.opening;
    this.listener?.close();
  }

  /** Whether it listens now, and where; while it starts, this waits. */
  state(): Promise<ServerState> {
    return this.opening;
  }

  private async open(): Promise<ServerState> {
    const { config } = this.parts.app;
    if (!config.get('ssh.enabled')) return { isUp: false, reason: 'it is turned off (ssh.enabled)' };
    const ssh2 = await import('ssh2');
    const key = await loadHostKey(config.dataDir);
    if (this.isStopped) return { isUp: false, reason: 'the daemon is stopping', key };
    this.listener = new SshListener(ssh2, key, this.parts);
    const [host, port] = addressOf(this.parts.app);
    const listening = await this.listener.open(host, port);
    if ('reason' in listening) this.listener.openLater(host, port, (found) => this.listensNow(found, key));
    return this.report(listening, key);
  }

  private listensNow(listening: Listening, key: HostKey): void {
    this.opening = Promise.resolve(this.report(listening, key));
  }

  private report(listening: Listening, key: HostKey): ServerState {
    if ('reason' in listening) {
      this.log.warn('no SSH into sandboxes', { reason: listening.reason });
      return { isUp: false, reason: listening.reason, key };
    }
    this.log.info('SSH into sandboxes', { ...listening, fingerprint: key.fingerprint });
    return { isUp: true, ...listening, key };
  }

  private get log() {
    return this.parts.app.log;
  }
}

function addressOf({ config }: App): [host: string, port: number] {
  return [config.get('ssh.host') || config.get('server.host'), config.get('ssh.port')];
}
