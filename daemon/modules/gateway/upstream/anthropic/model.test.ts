import { expect, test } from 'bun:test';
import { type ModelTraits, traitsOf } from './model.ts';

const CASES: ReadonlyArray<[string, Partial<ModelTraits>]> = [
  [
    'claude-3-haiku-20240307',
    { thinking: 'none', effort: 'none', sampling: 'any', structured: false, answerTokens: 4096 },
  ],
  ['claude-3-5-sonnet-20241022', { thinking: 'none', sampling: 'any', answerTokens: 8192 }],
  ['claude-3-7-sonnet-latest', { thinking: 'budget', sampling: 'any', answerTokens: 32_000 }],
  ['claude-sonnet-4-20250514', { thinking: 'budget', sampling: 'any', structured: false }],
  ['claude-opus-4-1', { thinking: 'budget', sampling: 'one', structured: true }],
  ['claude-haiku-4-5-20251001', { thinking: 'budget', effort: 'none', sampling: 'one', structured: true }],
  ['claude-opus-4-5', { thinking: 'budget', effort: 'high', sampling: 'one' }],
  ['claude-opus-4-6', { thinking: 'adaptive', effort: 'max', sampling: 'one', midSystem: false }],
  ['claude-opus-4-7', { thinking: 'adaptive', effort: 'xhigh', sampling: 'none', midSystem: false }],
  ['anthropic/claude-opus-4.8', { thinking: 'adaptive', sampling: 'none', midSystem: true, forcible: true }],
  ['claude-sonnet-5', { thinking: 'adaptive', sampling: 'none', forcible: true }],
  ['claude-opus-5-5', { thinking: 'adaptive', sampling: 'none', forcible: false }],
  ['claude-mythos-preview', { thinking: 'adaptive', sampling: 'none', midSystem: false }],
  ['MiniMax-M2', { thinking: 'budget', sampling: 'any', structured: false, forcible: true }],
];

for (const [model, traits] of CASES)
  test(`${model} is known by its name`, () => {
    expect(traitsOf(model)).toMatchObject(traits);
  });
