import { sandboxCommand } from '../../src/api/sandbox/command.ts';
import { sandboxLifecycle } from '../../src/api/sandbox/lifecycle.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import type { TestDaemon } from './daemon.ts';

/** One message of a command. */
export interface Message {
  readonly type: string;
  readonly text?: string;
  readonly error?: { readonly ename: string; readonly evalue: string; readonly traceback: readonly string[] };
}

/** What a command printed and how it ended. */
export interface Result {
  readonly id: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
  readonly last: Message;
  readonly types: readonly string[];
}

/** A client with the admin key of a test daemon. */
export function clientOf(daemon: TestDaemon): Client {
  return createClient({ url: daemon.url, apiKey: daemon.apiKey });
}

/** Makes a sandbox and answers its id. */
export async function newSandbox(client: Client, body: Record<string, unknown> = {}): Promise<string> {
  const { id } = await client.call(sandboxLifecycle.CreateSandbox, { body });
  if (!id) throw new Error('no id');
  return id;
}

/** Runs a command to its end over the event stream. */
export async function run(
  client: Client,
  sandboxId: string,
  command: string,
  more: Record<string, unknown> = {},
): Promise<Result> {
  const messages: Message[] = [];
  const stream = client.stream(sandboxCommand.ExecuteCommand, {
    params: { sandboxId },
    body: { command, ...more },
  });
  for await (const { data } of stream) messages.push(JSON.parse(data));
  return summary(messages);
}

function summary(messages: readonly Message[]): Result {
  const text = (type: string) =>
    messages
      .filter((one) => one.type === type)
      .map((one) => one.text ?? '')
      .join('');
  const last = messages.at(-1) ?? { type: 'nothing' };
  const code = last.type === 'execution_complete' ? 0 : Number(last.error?.evalue ?? Number.NaN);
  return {
    id: text('init'),
    stdout: text('stdout'),
    stderr: text('stderr'),
    code,
    last,
    types: messages.map((one) => one.type),
  };
}

/** Waits until a condition holds; throws after `ms`. */
export async function until<T>(
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  ms = 10_000,
): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not so within ${ms} ms: ${condition}`);
    await Bun.sleep(20);
  }
}
