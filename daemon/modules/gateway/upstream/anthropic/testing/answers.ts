import fc from 'fast-check';
import type { MessagesBlock, MessagesMessage } from '../../../wire/messages.ts';

/** An event before it is on the wire. */
export type WireEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map((text) => text.toWellFormed());
const text = word.map((said): MessagesBlock => ({ type: 'text', text: said }));
const thinking = fc
  .tuple(word, word)
  .map(([said, signature]): MessagesBlock => ({ type: 'thinking', thinking: said, signature }));
const redacted = word.map((data): MessagesBlock => ({ type: 'redacted_thinking', data }));
const input = fc.dictionary(word, fc.oneof(word, fc.integer(), fc.boolean()), {
  maxKeys: 3,
  noNullPrototype: true,
});
const call = fc
  .tuple(word, input)
  .map(([name, given]): MessagesBlock => ({ type: 'tool_use', name, input: given }));
const search = input.map(
  (given): MessagesBlock => ({ type: 'server_tool_use', id: 'srv', name: 'web_search', input: given }),
);
const found = word.map(
  (title): MessagesBlock => ({
    type: 'web_search_tool_result',
    tool_use_id: 'srv',
    content: [{ type: 'web_search_result', title }],
  }),
);

/** The content of any answer: blocks in any order, calls with ids of their own. */
export const arbitraryContent: fc.Arbitrary<MessagesBlock[]> = fc
  .array(fc.oneof(text, thinking, redacted, call, search, found), { maxLength: 7 })
  .map((blocks) =>
    blocks.map((block, i) => (block.type === 'tool_use' ? { ...block, id: `toolu_${i}` } : block)),
  );

/** The events of an answer that streams, its texts in pieces of one to three characters. */
export function eventsOf(message: MessagesMessage): WireEvent[] {
  const { content, stop_reason, stop_sequence, stop_details, usage } = message;
  const { output_tokens, output_tokens_details, ...begun } = usage;
  return [
    {
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: { ...begun, output_tokens: 1 } },
    },
    { type: 'ping' },
    ...content.flatMap((block, index): WireEvent[] => [
      { type: 'content_block_start', index, content_block: emptied(block) },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence, stop_details },
      usage: { output_tokens, output_tokens_details, input_tokens: null },
    },
    { type: 'message_stop' },
  ];
}

/** Events as bytes that are cut after so many of them, by turns. */
export function cut(events: readonly WireEvent[], sizes: readonly number[]): ReadableStream<Uint8Array> {
  const wire = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const bytes = new TextEncoder().encode(wire);
  let [at, turn] = [0, 0];
  return new ReadableStream({
    pull(sink) {
      if (at >= bytes.length) return sink.close();
      const size = sizes[turn++ % sizes.length] ?? 1;
      sink.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

function emptied(block: MessagesBlock): MessagesBlock {
  if (block.type === 'text') return { ...block, text: '', citations: null };
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  return block.type === 'tool_use' || block.type === 'server_tool_use' ? { ...block, input: {} } : block;
}

function deltasOf({ type, text = '', thinking = '', signature, input, citations }: MessagesBlock): object[] {
  if (type === 'text')
    return [
      ...pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
      ...(Array.isArray(citations) ? citations : []).map((citation) => ({
        type: 'citations_delta',
        citation,
      })),
    ];
  if (type === 'thinking')
    return [
      ...pieces(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature },
    ];
  if (type !== 'tool_use' && type !== 'server_tool_use') return [];
  const json = JSON.stringify(input);
  return ['', ...(json === '{}' ? [] : pieces(json))].map((partial_json) => ({
    type: 'input_json_delta',
    partial_json,
  }));
}

function pieces(text: string): string[] {
  const points = [...text];
  return Array.from({ length: Math.ceil(points.length / 3) }, (_, i) =>
    points.slice(i * 3, i * 3 + 3).join(''),
  );
}
