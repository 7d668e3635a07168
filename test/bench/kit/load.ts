import { readFileSync } from 'node:fs';
import type { Socket } from 'bun';
import { median, quantile } from './quantile.ts';

/** One request that is sent over and over to one server. */
export interface Target {
  readonly name: string;
  readonly port: number;
  /** The process that answers, for its processor time. */
  readonly pid: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How a server did under load. */
export interface LoadFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Processor time of the server for one request, in microseconds: hardly touched by what else runs here. */
  readonly cpuUs: number;
}

/** Clock ticks a second in /proc/<pid>/stat (sysconf(_SC_CLK_TCK), 100 on Linux). */
const TICKS = 100;

/**
 * Calls a server from so many callers at once, each on a connection of its own that it keeps, for so long.
 * The client speaks HTTP/1.1 over plain sockets, so that it does not cost more than the server.
 * Errors: an answer that is not 200.
 */
export async function applyLoad(target: Target, callers: number, ms: number): Promise<LoadFigures> {
  const latencies: number[] = [];
  const end = performance.now() + ms;
  const cpuBefore = cpuTicks(target.pid);
  const start = performance.now();
  await Promise.all(Array.from({ length: callers }, () => callUntil(target, end, latencies)));
  const seconds = (performance.now() - start) / 1000;
  const cpuSeconds = (cpuTicks(target.pid) - cpuBefore) / TICKS;
  return {
    perSecond: latencies.length / seconds,
    p50Ms: median(latencies),
    p95Ms: quantile(latencies, 0.95),
    cpuUs: (cpuSeconds * 1e6) / latencies.length,
  };
}

/** The middle of several figures. */
export function middle(list: readonly LoadFigures[]): LoadFigures {
  const of = (pick: (figures: LoadFigures) => number) => median(list.map(pick));
  return {
    perSecond: of((one) => one.perSecond),
    p50Ms: of((one) => one.p50Ms),
    p95Ms: of((one) => one.p95Ms),
    cpuUs: of((one) => one.cpuUs),
  };
}

function callUntil(target: Target, end: number, latencies: number[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const request = encode(target);
  const answer = new AnswerReader();
  let begun = 0;
  const send = (socket: Socket) => {
    begun = performance.now();
    socket.write(request);
  };
  void Bun.connect({
    hostname: '127.0.0.1',
    port: target.port,
    socket: {
      open: send,
      data(socket, bytes) {
        if (!answer.push(bytes)) return;
        const now = performance.now();
        latencies.push(now - begun);
        if (answer.status !== 200) reject(new Error(`${target.name} answered ${answer.text}`));
        if (now < end) return send(socket);
        resolve();
        socket.end();
      },
      close: () => reject(new Error(`${target.name} closed the connection`)),
      connectError: (_, error) => reject(error),
    },
  });
  return promise;
}

function encode({ method, port, path, headers, body }: Target): Buffer {
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`);
}

/** Tells when an answer is complete. Its length is declared, or its last chunk ends it (RFC 9112, 6 and 7.1). */
class AnswerReader {
  text = '';
  status = 0;
  private isWhole = true;

  /** Takes bytes; true when they complete an answer. */
  push(bytes: Uint8Array): boolean {
    if (this.isWhole) this.text = '';
    this.text += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const head = this.text.indexOf('\r\n\r\n');
    this.isWhole = head >= 0 && this.isComplete(head);
    if (this.isWhole) this.status = Number(this.text.slice(9, 12));
    return this.isWhole;
  }

  private isComplete(head: number): boolean {
    const length = /\r\ncontent-length: (\d+)/i.exec(this.text)?.[1];
    if (length !== undefined) return this.text.length >= head + 4 + Number(length);
    return this.text.endsWith('0\r\n\r\n');
  }
}

function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
