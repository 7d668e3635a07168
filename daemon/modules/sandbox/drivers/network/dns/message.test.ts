import { describe, expect, test } from 'bun:test';
import { decode, encode, type Question } from 'dns-packet';
import fc from 'fast-check';
import {
  RCODE,
  rcodeOf,
  readAnswer,
  readQuery,
  writeQuestion,
  writeReply,
  writeUnreadable,
} from './message.ts';

const ask = (name: string, type: Question['type'] = 'A', id = 7) =>
  encode({ type: 'query', id, questions: [{ name, type }] });

describe('a question', () => {
  test('is read from any bytes without harm', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_100 }), (bytes) => {
        const query = readQuery(Buffer.from(bytes));
        if (query && 'rcode' in query) expect(writeUnreadable(query).readUInt16BE(0)).toBe(query.id);
      }),
    );
  });

  test('is read from a packet that somebody has bent', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 8 }),
        fc.nat(60),
        (changes, length) => {
          const bytes = Buffer.from(ask('a.example.com'));
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          const query = readQuery(bytes.subarray(0, Math.max(12, length)));
          if (query && 'name' in query) expect(query.name).toMatch(/^[a-zA-Z0-9_.-]{1,253}$/);
        },
      ),
    );
  });

  test('tells name, type and how large an answer may be', () => {
    expect(readQuery(ask('A.Example.com', 'TXT'))).toEqual({
      id: 7,
      name: 'A.Example.com',
      type: 'TXT',
      size: 512,
      hasExtensions: false,
    });
    const large = encode({
      type: 'query',
      id: 8,
      questions: [{ name: 'a.test', type: 'A' }],
      additionals: [
        {
          type: 'OPT',
          name: '.',
          udpPayloadSize: 4096,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: 0,
          flag_do: false,
          options: [],
        },
      ],
    });
    expect(readQuery(large)).toMatchObject({ size: 1_232, hasExtensions: true });
  });

  test.each<[string, Buffer, number | undefined]>([
    ['an answer', encode({ type: 'response', id: 1, questions: [{ name: 'a.test', type: 'A' }] }), undefined],
    ['two questions', twoQuestions(), RCODE.malformed],
    ['another operation', withOpcode(5), RCODE.notKnown],
    ['a whole zone', ask('example.com', 'AXFR'), RCODE.refused],
    ['everything', ask('example.com', 'ANY' as Question['type']), RCODE.refused],
    ['a label with a dot in it', dottedLabel(), undefined],
    ['a name with a space', ask('a b.test'), RCODE.refused],
  ])('that is %s is not taken for one', (_, bytes, rcode) => {
    const query = readQuery(bytes);
    if (rcode === undefined && query && 'name' in query) expect(query.name).toBe('x.allowed.com');
    else expect(query && 'rcode' in query ? query.rcode : undefined).toBe(rcode as typeof RCODE.refused);
  });
});

describe('an answer', () => {
  const query = { id: 9, name: 'a.test', type: 'A' as const, size: 512, hasExtensions: true };

  test('of a name server counts only with the id and the question that were sent', () => {
    const answer = (id: number, name: string) =>
      encode({ type: 'response', id, questions: [{ name, type: 'A' }] });
    expect(readAnswer(answer(3, 'A.TEST'), 3, query)).toBeDefined();
    expect(readAnswer(answer(4, 'a.test'), 3, query)).toBeUndefined();
    expect(readAnswer(answer(3, 'b.test'), 3, query)).toBeUndefined();
    expect(readAnswer(writeQuestion(3, query), 3, query)).toBeUndefined();
    expect(readAnswer(Buffer.from([0, 3, 0]), 3, query)).toBeUndefined();
  });

  test('that is too large for a datagram says so, and is whole by TCP', () => {
    const answers = Array.from({ length: 60 }, (_, i) => ({
      name: 'a.test',
      type: 'TXT' as const,
      ttl: 1,
      data: `${i} ${'x'.repeat(50)}`,
    }));
    const short = decode(writeReply(query, { rcode: RCODE.ok, answers }, 'udp'));
    expect(short).toMatchObject({ flag_tc: true, answers: [] });
    expect(decode(writeReply(query, { rcode: RCODE.ok, answers }, 'tcp')).answers).toHaveLength(60);
  });

  test('that denies a name says why to whoever can read it', () => {
    const bytes = writeReply(query, { rcode: RCODE.noName, why: 'not allowed' }, 'udp');
    expect(rcodeOf(decode(bytes))).toBe(RCODE.noName);
    expect(bytes.toString('latin1')).toContain('not allowed');
  });
});

function twoQuestions(): Buffer {
  const question = { name: 'a.test', type: 'A' as const };
  return encode({ type: 'query', id: 1, questions: [question, question] });
}

function withOpcode(opcode: number): Buffer {
  const bytes = ask('a.test');
  bytes[2] = opcode << 3;
  return bytes;
}

/** `x.allowed` as one label: in text it cannot be told from two, so it is asked for as two, as it is judged. */
function dottedLabel(): Buffer {
  const bytes = ask('x-allowed.com');
  bytes[bytes.indexOf('x-allowed') + 1] = '.'.charCodeAt(0);
  return bytes;
}
