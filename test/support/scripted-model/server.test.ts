import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import type { ChatCompletionMessageParam as Message } from 'openai/resources/chat/completions';
import { type ScriptedModel, startScriptedModel } from './index.ts';

let model: ScriptedModel;
let client: OpenAI;

beforeAll(async () => {
  model = await startScriptedModel();
  client = new OpenAI({ baseURL: model.url, apiKey: model.apiKey, maxRetries: 0 });
});

afterAll(async () => {
  await model?.stop();
});

const user = (content: string): Message => ({ role: 'user', content });

const ask = async (messages: Message[], name = 'main') => {
  const { choices, usage } = await client.chat.completions.create({ model: name, messages });
  return { message: choices[0]?.message, end: choices[0]?.finish_reason, usage };
};

const asked = (messages: Message[], name = 'main') =>
  ask(messages, name).then(
    ({ end }) => end,
    (error: Error) => error.message,
  );

describe('the scripted model', () => {
  const script =
    '#!script key=wire\nthink Löök «first»\ncall a {"text":"ä ☃"}\n& call b {"n":[1,2]}\nsay end ☃';

  test('says the same whole and streamed, with usage, text and calls', async () => {
    const whole = await ask([user(script.replace('key=wire', 'key=whole'))]);
    const runner = client.chat.completions.stream({
      model: 'main',
      messages: [user(script.replace('key=wire', 'key=whole'))],
      stream_options: { include_usage: true },
    });
    const streamed = await runner.finalChatCompletion();
    const ids = /c_whole_0_0_(\d)_[01]/g;
    const plain = (value: unknown) =>
      JSON.parse(
        JSON.stringify(value)
          .replaceAll(ids, '$1')
          .replaceAll(/"(parsed|index|refusal|parsed_arguments)":[^,}]*,?/g, '')
          .replaceAll(',}', '}'),
      );
    expect(plain(streamed.choices[0]?.message)).toEqual(plain(whole.message));
    expect(streamed.usage).toEqual(whole.usage);
    expect([whole.end, streamed.choices[0]?.finish_reason]).toEqual(['tool_calls', 'tool_calls']);
  });

  test('goes through a conversation and keeps books of it', async () => {
    const messages: Message[] = [user(script)];
    const { message } = await ask(messages);
    if (!message) throw new Error('no message');
    messages.push(message);
    for (const { id } of message.tool_calls ?? [])
      messages.push({ role: 'tool', tool_call_id: id, content: 'ok' });
    expect((await ask(messages)).message?.content).toBe('end ☃');
    const seen = await model.conversation('wire');
    expect(seen.requests).toBe(2);
    expect(seen.answers).toEqual({ wire_0_0: 1, wire_0_1: 1 });
    expect(seen.last.messages).toHaveLength(4);
  });

  test('refuses with the reason, and counts that', async () => {
    const before = (await model.seen()).violations.length;
    expect(await asked([user('hello')])).toContain('there is no script');
    expect(await asked([user(script), { role: 'tool', tool_call_id: 'x', content: '' }])).toContain(
      'without a call',
    );
    await asked([user('#!script key=lost\nsay a'), user('second')]);
    expect(await asked([user('#!script key=lost\nsay a')])).toBe(
      '400 the conversation has lost or changed {"role":"user","content":"second"}',
    );
    expect(await asked([user('#!script key=tools tools=a\nsay a')])).toContain('the tools are , not a');
    expect((await model.seen()).violations.length).toBe(before + 4);
  });

  test('fails, hangs and is cut as often as it is told, then answers', async () => {
    const messages = [user('#!script key=moody\nfail 503 2\ncut 1\nsay one two three four')];
    const answers = [
      await asked(messages),
      await asked(messages),
      await asked(messages),
      await asked(messages),
    ];
    expect(answers.map((answer) => String(answer).slice(0, 3))).toEqual([
      '503',
      '503',
      expect.any(String),
      'sto',
    ]);
    expect(answers[2]).not.toBe('stop');
    const hanging = client.chat.completions.create(
      { model: 'main', messages: [user('#!script key=hanging\nhang 1\nsay hi')] },
      { timeout: 100 },
    );
    expect(await hanging.catch((error: Error) => error.message)).toBe('Request timed out.');
    expect(await asked([user('#!script key=hanging\nhang 1\nsay hi')])).toBe('stop');
    expect((await model.conversation('hanging')).left).toBe(1);
  });

  test.each([
    ['broken', '500'],
    ['limited', '429'],
    ['small-10', 'the context of small-10 is 10 tokens'],
  ])('has a model %s', async (name, words) => {
    expect(await asked([user('#!script key=named\nsay hi')], name)).toContain(words);
  });

  test('has a model that puts conversations in few words', async () => {
    const { message } = await ask([user('keep-blue and keep-red or keep-blue')], 'summary');
    expect(message?.content).toBe('In short: keep-blue keep-red');
  });

  test('counts effects', async () => {
    const have = (id: string) =>
      fetch(model.effectUrl, { method: 'POST', body: JSON.stringify({ id, ms: 5 }) }).then((answer) =>
        answer.json(),
      );
    await have('e1');
    expect(await have('e1')).toMatchObject({ count: 2 });
    await have('e2');
    expect((await model.effects()).map(({ id }) => id)).toEqual(['e1', 'e1', 'e2']);
  });
});
