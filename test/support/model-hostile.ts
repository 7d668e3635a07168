/** A model that means no good: what it does stands in the last message of the user, `#<trap> <argument>`. */
export interface HostileModel {
  /** Settings of a daemon that has it as its provider `hostile`. */
  readonly env: Readonly<Record<string, string>>;
  /** Answers without an end that somebody reads now. */
  readonly endless: () => number;
  stop(): Promise<void>;
}

type Delta = Readonly<Record<string, unknown>>;

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const EVENTS = { 'content-type': 'text/event-stream' };

/** Starts one on a free port. */
export function startHostileModel(): HostileModel {
  const reading = { endless: 0 };
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    maxRequestBodySize: 256 * 1024 * 1024,
    async fetch(request) {
      const { messages = [] } = (await request.json().catch(() => ({}))) as { messages?: Message[] };
      const said = messages.findLast(({ role }) => role === 'user')?.content ?? '';
      const [, trap = '', argument = ''] = /^#(\w+) ?(.*)/s.exec(said) ?? [];
      if (messages.at(-1)?.role === 'tool')
        return answer([{ content: `It said: ${messages.at(-1)?.content}` }]);
      switch (trap) {
        case 'endless':
          return endless(reading);
        case 'calls':
          return answer([{ tool_calls: JSON.parse(argument) as unknown }], USAGE, 'tool_calls');
        case 'deltas':
          return answer(JSON.parse(argument) as Delta[]);
        case 'slow':
          await Bun.sleep(Number(argument));
          return answer([{ content: 'at last' }]);
        case 'usage':
          return answer([{ content: 'ok' }], JSON.parse(argument) as object);
        case 'whole':
          return Response.json({
            choices: [{ index: 0, message: JSON.parse(argument) as object, finish_reason: 'stop' }],
          });
        default:
          return answer([{ content: 'ok' }]);
      }
    },
  });
  const { port } = server;
  const provider = { base_url: `http://127.0.0.1:${port}/v1`, api_key: 'sk-hostile-0123456789' };
  return {
    env: {
      SVC_PROVIDERS: JSON.stringify({ hostile: provider }),
      SVC_OUTBOUND_ALLOW: `127.0.0.1:${port}`,
      SVC_GATEWAY_RETRIES: '0',
    },
    endless: () => reading.endless,
    stop: () => server.stop(true),
  };
}

interface Message {
  readonly role: string;
  readonly content: string;
}

function chunk(delta: Delta, finishReason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return event({ id: 'one', object: 'chat.completion.chunk', created: 1, model: 'm', choices });
}

function answer(deltas: readonly Delta[], usage: object = USAGE, finishReason = 'stop'): Response {
  const end = [chunk({}, finishReason), event({ id: 'one', choices: [], usage }), 'data: [DONE]\n\n'];
  return new Response([...deltas.map((delta) => chunk(delta)), ...end].join(''), { headers: EVENTS });
}

/** Says something for ever. */
function endless(reading: { endless: number }): Response {
  const piece = chunk({ content: 'on and '.repeat(4_000) });
  reading.endless++;
  const body = new ReadableStream<string>({
    pull: (controller) => controller.enqueue(piece),
    cancel() {
      reading.endless--;
    },
  });
  return new Response(body, { headers: EVENTS });
}

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
