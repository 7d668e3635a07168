import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { fail } from '../../../../src/errors/app-error.ts';
import type { Execution, Exit } from '../../sandbox/index.ts';
import { MOST_MESSAGE, tooLarge } from './bounded.ts';

const LINE_FEED = 10;
const KEPT_STDERR = 4_096;

/** Talks to a program by its stdin and stdout, a message a line (MCP, Transports, stdio). What it says is not trusted. */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** The client tells by these two that it talks to a program: silence at its first question is an old one then. */
  readonly pid = null;
  readonly stderr = null;
  private last = '';
  private parts: Uint8Array[] = [];
  private size = 0;
  private exit: Exit | undefined;
  private isClosed = false;

  constructor(private readonly process: Execution) {}

  async start(): Promise<void> {
    void this.read().finally(() => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.exit) throw fail('upstream_failed', { message: this.whyEnded });
    try {
      await this.process.write(Buffer.from(`${JSON.stringify(message)}\n`));
    } catch {
      throw fail('upstream_failed', { message: this.whyEnded });
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.process.kill('SIGKILL').catch(() => undefined);
  }

  /** The error of a program that is gone; undefined while it runs. */
  failure(): Error | undefined {
    return this.exit ? fail('upstream_failed', { message: this.whyEnded }) : undefined;
  }

  /** How the program ended, and its last words. */
  private get whyEnded(): string {
    const said = this.last.trim() === '' ? '' : `: ${this.last.trim()}`;
    if (!this.exit) return `The program of the server does not read${said}`;
    const { code, signal, startError, outOfMemory } = this.exit;
    if (startError) return `The program of the server could not be started: ${startError}`;
    if (outOfMemory) return 'The program of the server ran out of memory.';
    return `The program of the server ended with ${signal ?? `code ${code}`}${said}`;
  }

  private async read(): Promise<void> {
    try {
      for await (const { channel, bytes } of this.process.output) {
        if (channel === 'stderr') this.last = (this.last + Buffer.from(bytes).toString()).slice(-KEPT_STDERR);
        else this.take(bytes);
      }
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.exit = await this.process.exited.catch(() => ({ code: -1 }));
    }
  }

  private take(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0 && !this.isClosed; ) {
      const at = rest.indexOf(LINE_FEED);
      const part = at === -1 ? rest : rest.subarray(0, at);
      this.size += part.length;
      if (this.size > MOST_MESSAGE) {
        this.onerror?.(tooLarge());
        void this.close();
        return;
      }
      this.parts.push(part);
      if (at === -1) return;
      this.finish(Buffer.concat(this.parts).toString().trim());
      rest = rest.subarray(at + 1);
    }
  }

  /** Programs print other things too; a line that is no message is passed over. */
  private finish(line: string): void {
    [this.parts, this.size] = [[], 0];
    if (!line.startsWith('{')) return;
    try {
      this.onmessage?.(JSON.parse(line) as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
