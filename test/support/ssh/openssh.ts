import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How a program ended, and what it printed. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where an SSH server is, and who it is. */
export interface SshServerAddress {
  readonly host: string;
  readonly port: number;
  /** `ssh-ed25519 AAAA...` */
  readonly hostKey: string;
}

/** The programs of OpenSSH, with the host key pinned, no configuration of this machine, and nothing asked. */
export class OpenSsh {
  constructor(
    private readonly server: SshServerAddress,
    /** An address of the loopback that the connections come from: penalties count by it. */
    private readonly source = '127.0.0.1',
    readonly dir = mkdtempSync(join(tmpdir(), 'svc-openssh-')),
  ) {
    const { host, port, hostKey } = server;
    writeFileSync(join(this.dir, 'known_hosts'), `[${host}]:${port} ${hostKey}\n`);
  }

  /** The same server, seen from another address; it goes with this one. */
  from(source: string): OpenSsh {
    return new OpenSsh(this.server, source, this.dir);
  }

  /** `ssh ARGS USER@HOST COMMAND` */
  ssh(
    user: string,
    command: readonly string[],
    args: readonly string[] = [],
    stdin?: Uint8Array | ReadableStream,
  ) {
    return run(this.sshLine(user, command, args), stdin);
  }

  /** Starts ssh and leaves it running. */
  start(user: string, command: readonly string[], args: readonly string[] = []) {
    return Bun.spawn(this.sshLine(user, command, args), { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' });
  }

  sshLine(user: string, command: readonly string[], args: readonly string[] = []): string[] {
    return [
      'ssh',
      ...this.options(),
      '-p',
      String(this.server.port),
      ...args,
      `${user}@${this.server.host}`,
      ...command,
    ];
  }

  /** `sftp` with a batch of lines. */
  sftp(user: string, lines: readonly string[]): Promise<Ended> {
    const batch = join(this.dir, 'batch');
    writeFileSync(batch, `${lines.join('\n')}\n`);
    return run([
      'sftp',
      ...this.options(),
      '-P',
      String(this.server.port),
      '-b',
      batch,
      `${user}@${this.server.host}`,
    ]);
  }

  /** `scp ARGS`; a path of the sandbox is `box:PATH`. */
  scp(user: string, args: readonly string[]): Promise<Ended> {
    const paths = args.map((arg) => arg.replace(/^box:/, `${user}@${this.server.host}:`));
    return run(['scp', ...this.options(), '-P', String(this.server.port), ...paths]);
  }

  /** Makes a key pair; answers the path of the private one. */
  async newKey(type: 'ed25519' | 'ecdsa' | 'rsa'): Promise<string> {
    const path = join(this.dir, `id_${type}_${crypto.randomUUID()}`);
    await run(['ssh-keygen', '-q', '-t', type, '-N', '', '-C', 'test', '-f', path]);
    return path;
  }

  /** Arguments that offer one key and no other. */
  withKey(path: string): string[] {
    return ['-i', path, '-o', 'IdentitiesOnly=yes'];
  }

  close(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  private options(): string[] {
    const options = {
      UserKnownHostsFile: join(this.dir, 'known_hosts'),
      StrictHostKeyChecking: 'yes',
      BatchMode: 'yes',
      LogLevel: 'ERROR',
      BindAddress: this.source,
      IdentityAgent: 'none',
    };
    return ['-F', 'none', ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
  }
}

/** Runs a program to its end. */
export async function run(argv: readonly string[], stdin?: Uint8Array | ReadableStream): Promise<Ended> {
  const child = Bun.spawn([...argv], { stdin: stdin ?? 'ignore', stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}
