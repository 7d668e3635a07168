import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Admission, type Place } from './admission.ts';
import { Penalties } from './penalties.ts';

const limits = { total: 6, perSource: 4, waiting: 5, waitingPerSource: 2 };
const make = () => new Admission(limits, new Penalties({ now: () => 0 }));

test('a source gets as many places as it may, and one more when it leaves one', () => {
  const admission = make();
  const first = admission.admit('a') as Place;
  expect(admission.admit('a')).toBeObject();
  expect(admission.admit('a')).toBe('too many from there');
  first.leave();
  first.leave();
  expect(admission.admit('a')).toBeObject();
  expect(admission.admit('a')).toBe('too many from there');
});

test('whoever has logged in does not stand in the way of those who wait', () => {
  const admission = make();
  for (let i = 0; i < 4; i++) (admission.admit('a') as Place).enter();
  expect(admission.admit('a')).toBe('too many from there');
  expect(admission.admit('b')).toBeObject();
});

test('a source that guesses is not admitted', () => {
  const penalties = new Penalties({ now: () => 0 });
  const admission = new Admission(limits, penalties);
  for (let i = 0; i < 10; i++) penalties.fail('a');
  expect(admission.admit('a')).toBe('blocked');
});

test('the limits hold, and every place comes back, whatever comes and goes', () => {
  const step = fc.tuple(
    fc.constantFrom('admit', 'enter', 'leave'),
    fc.constantFrom('a', 'b', 'c'),
    fc.nat(5),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const admission = make();
      const here: Array<Place & { waits: boolean }> = [];
      for (const [what, source, which] of steps) {
        const one = here[which];
        if (what === 'admit') {
          const place = admission.admit(source);
          if (typeof place !== 'string') here.push({ ...place, waits: true });
        } else if (one && what === 'enter') {
          one.enter();
          one.waits = false;
        } else if (one) {
          one.leave();
          here.splice(which, 1);
        }
        const from = (name: string) => here.filter((place) => place.source === name);
        expect(here.length).toBeLessThanOrEqual(limits.total);
        expect(here.filter(({ waits }) => waits).length).toBeLessThanOrEqual(limits.waiting);
        for (const name of ['a', 'b', 'c']) expect(from(name).length).toBeLessThanOrEqual(limits.perSource);
      }
      for (const place of here) place.leave();
      for (const name of ['a', 'b'])
        expect([admission.admit(name), admission.admit(name)]).not.toContain('too many');
    }),
  );
});
