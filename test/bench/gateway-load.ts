import { readFileSync } from 'node:fs';
import type { Socket } from 'bun';

/** Something that answers POST {path} in the dialect of chat completions. */
export interface Target {
  readonly name: string;
  readonly port: number;
  readonly path: string;
  /** The process that answers, for its processor time and memory. */
  readonly pid: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is sent, by how many callers at once, and when that is enough. */
export interface Load {
  readonly callers: number;
  readonly stream: boolean;
  readonly model?: string;
  /** No request begins after so many milliseconds, or when so many were made. */
  readonly ms?: number;
  readonly requests?: number;
}

/** What callers heard. Times are in milliseconds. */
export interface Heard {
  /** Until the first byte of content, of each answer. */
  readonly firstMs: readonly number[];
  /** Until the last byte of each answer. */
  readonly lastMs: readonly number[];
  /** The longest silence within each answer, after its first byte of content. */
  readonly gapMs: readonly number[];
  readonly perSecond: number;
  /** Processor time of the target for one request, in microseconds. */
  readonly cpuUs: number;
}

/** What is said: words that an answer has to turn round. */
const WORDS = Array.from({ length: 30 }, (_, i) => `word${i}`);
/** Clock ticks a second in /proc/<pid>/stat (sysconf(_SC_CLK_TCK), 100 on Linux). */
const TICKS = 100;

/**
 * Calls a target over keep-alive connections, one a caller. Speaks HTTP/1.1 over plain sockets, so that the caller
 * costs less than what it measures. Errors: an answer that is not 200, or has not what was asked for; a closed connection.
 */
export async function applyLoad(target: Target, load: Load): Promise<Heard> {
  const heard = { firstMs: [] as number[], lastMs: [] as number[], gapMs: [] as number[] };
  const begun = performance.now();
  const cpuBefore = cpuSeconds(target.pid);
  const end = begun + (load.ms ?? Number.POSITIVE_INFINITY);
  let left = load.requests ?? Number.POSITIVE_INFINITY;
  const goesOn = () => left-- > 0 && performance.now() < end;
  const request = encode(target, load);
  await Promise.all(
    Array.from({ length: load.callers }, () => callWhile(target, request, goesOn, load.model, heard)),
  );
  const seconds = (performance.now() - begun) / 1000;
  const count = heard.lastMs.length;
  const cpuUs = ((cpuSeconds(target.pid) - cpuBefore) * 1e6) / count;
  return { ...heard, perSecond: count / seconds, cpuUs };
}

/** Processor time that a process has used so far, in seconds (proc_pid_stat(5)). */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

type Noted = { firstMs: number[]; lastMs: number[]; gapMs: number[] };

function callWhile(
  target: Target,
  request: Buffer,
  goesOn: () => boolean,
  model: string | undefined,
  heard: Noted,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const answer = new Answer(model === undefined ? WORDS[0] : undefined);
  const next = (socket: Socket): void => {
    if (goesOn()) {
      answer.begin();
      socket.write(request);
      return;
    }
    resolve();
    socket.end();
  };
  Bun.connect({
    hostname: '127.0.0.1',
    port: target.port,
    socket: {
      open: next,
      data(socket, bytes) {
        if (!answer.push(bytes)) return;
        const wrong = answer.complaint;
        if (wrong) return reject(new Error(`${target.name} answered ${wrong}`));
        answer.noteIn(heard);
        next(socket);
      },
      close: () => reject(new Error(`${target.name} closed the connection`)),
    },
  }).catch(reject);
  return promise;
}

function encode({ port, path, headers }: Target, { stream, model = 'gpt-4o' }: Load): Buffer {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: WORDS.join(' ') }] });
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/** One answer as it comes. Its length is declared, or its last chunk ends it (RFC 9112, 6 and 7.1). */
class Answer {
  private head = '';
  private isHeadWhole = false;
  private tail = '';
  private bodyBytes = 0;
  private length: number | undefined;
  private begun = 0;
  private firstAt = 0;
  private lastAt = 0;
  private gap = 0;

  /** `last`: the word that a right answer ends with. */
  constructor(private readonly last: string | undefined) {}

  begin(): void {
    this.head = this.tail = '';
    this.isHeadWhole = false;
    this.bodyBytes = this.firstAt = this.gap = 0;
    this.begun = performance.now();
  }

  /** Takes bytes; true when they complete the answer. */
  push(bytes: Buffer): boolean {
    const body = this.isHeadWhole ? bytes : this.afterHead(bytes);
    if (body.length === 0) return false;
    const now = performance.now();
    if (this.firstAt === 0) this.firstAt = now;
    else this.gap = Math.max(this.gap, now - this.lastAt);
    this.lastAt = now;
    this.bodyBytes += body.length;
    this.tail = (this.tail + body.toString('latin1', Math.max(0, body.length - TAIL))).slice(-TAIL);
    return this.length === undefined ? this.tail.endsWith('\r\n0\r\n\r\n') : this.bodyBytes >= this.length;
  }

  /** What is wrong with a complete answer. */
  get complaint(): string | undefined {
    if (!this.head.startsWith('HTTP/1.1 200')) return this.head;
    return this.last === undefined || this.tail.includes(this.last) ? undefined : this.tail;
  }

  noteIn(heard: Noted): void {
    heard.firstMs.push(this.firstAt - this.begun);
    heard.lastMs.push(this.lastAt - this.begun);
    heard.gapMs.push(this.gap);
  }

  /** What of these bytes comes after the head. */
  private afterHead(bytes: Buffer): Buffer {
    const before = this.head.length;
    this.head += bytes.toString('latin1');
    const end = this.head.indexOf('\r\n\r\n');
    if (end < 0) return bytes.subarray(bytes.length);
    this.head = this.head.slice(0, end);
    this.isHeadWhole = true;
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.head)?.[1];
    this.length = length === undefined ? undefined : Number(length);
    return bytes.subarray(end + 4 - before);
  }
}

/** Enough for the end of an answer: its last word, its usage, its last event and chunk. */
const TAIL = 512;
