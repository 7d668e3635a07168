import { chat } from '../../../src/api/gateway/chat.ts';
import { sandboxCommand } from '../../../src/api/sandbox/command.ts';
import { sandboxLifecycle } from '../../../src/api/sandbox/lifecycle.ts';
import type { Client } from '../../../src/client/client.ts';
import { fail } from '../../../src/errors/app-error.ts';
import { formatDuration } from '../../../src/kit/duration.ts';
import type { Steps } from '../../ui/steps.ts';

/** How long the trial took, in milliseconds. */
export interface SmokeTimes {
  readonly createMs: number;
  readonly commandMs: number;
  readonly chatMs: number;
}

const COMMAND = 'echo "$(uname -sr), user $(id -u)"';
const MODEL = 'local/echo';
const MESSAGE = 'Hello from svc up';

interface ExecutionEvent {
  readonly type: string;
  readonly text?: string;
  readonly error?: { readonly ename: string; readonly evalue: string };
}

/** Tries the instance: one command in a fresh sandbox, one chat request. The sandbox is removed again. */
export async function smokeTest(client: Client, steps: Steps): Promise<SmokeTimes> {
  const box = await steps.run('sandbox', async () => {
    const made = await timed(() =>
      client.call(sandboxLifecycle.CreateSandbox, { body: { timeoutSeconds: 300 } }),
    );
    return { value: { id: made.value.id ?? '', ms: made.ms }, detail: `created on ${made.value.backend}` };
  });
  try {
    const commandMs = await steps.run('command', async () => {
      const ran = await timed(() => runCommand(client, box.id));
      return { value: ran.ms, detail: `a sandbox answered: ${ran.value}` };
    });
    const chatMs = await steps.run('chat', async () => {
      const said = await timed(() => askModel(client));
      return { value: said.ms, detail: `${MODEL} answered: ${said.value}` };
    });
    return { createMs: box.ms, commandMs, chatMs };
  } finally {
    await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId: box.id } });
  }
}

/** The times in one line. */
export function timesText({ createMs, commandMs, chatMs }: SmokeTimes): string {
  const [create, command, reply] = [createMs, commandMs, chatMs].map((ms) => formatDuration(ms));
  return `sandbox created in ${create}, command run in ${command}, chat answered in ${reply}`;
}

async function runCommand(client: Client, sandboxId: string): Promise<string> {
  let output = '';
  const events = client.stream(sandboxCommand.ExecuteCommand, {
    params: { sandboxId },
    body: { command: COMMAND },
  });
  for await (const { data } of events) {
    const event = JSON.parse(data) as ExecutionEvent;
    if (event.type === 'stdout') output += event.text ?? '';
    if (event.type === 'error') {
      const message = `The trial command failed: ${event.error?.ename} ${event.error?.evalue}`;
      throw fail('failed_precondition', { message });
    }
  }
  return output.trim();
}

async function askModel(client: Client): Promise<string> {
  const answer = await client.call(chat.ChatCompletion, {
    body: { model: MODEL, messages: [{ role: 'user', content: MESSAGE }] },
  });
  const content = answer.choices[0]?.message.content;
  return typeof content === 'string' ? content : JSON.stringify(content);
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const start = performance.now();
  const value = await work();
  return { value, ms: Math.round(performance.now() - start) };
}
