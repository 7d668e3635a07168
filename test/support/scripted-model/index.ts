import { join } from 'node:path';
import type { Effect, SeenConversation, SeenViolation } from './books.ts';

/** A model of an agent, in a process of its own, that does what scripts say and refuses conversations that a broken loop sends. */
export interface ScriptedModel {
  /** Settings of a daemon that has it as its provider `scripted`, with effects that may be called. */
  readonly env: Readonly<Record<string, string>>;
  /** For `base_url`. */
  readonly url: string;
  readonly apiKey: string;
  /** Calls of this address are effects: POST `{id, ms}`; the answer comes after `ms`. */
  readonly effectUrl: string;
  seen(): Promise<SeenModel>;
  /** One conversation, by the key of its script. Errors: when nobody has asked under that key. */
  conversation(key: string): Promise<SeenConversation>;
  effects(): Promise<readonly Effect[]>;
  stop(): Promise<void>;
}

/** What the model has seen since it started. */
export interface SeenModel {
  readonly requests: number;
  readonly refused: number;
  readonly violations: readonly SeenViolation[];
  readonly keys: readonly string[];
}

const API_KEY = 'sk-scripted-0123456789';

/** Starts one on a free port. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'server.ts'), API_KEY], {
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  const origin = `http://127.0.0.1:${port}`;
  const get = async (path: string) => (await fetch(origin + path)).json();
  const provider = { base_url: `${origin}/v1`, api_key: API_KEY };
  return {
    env: {
      SVC_PROVIDERS: JSON.stringify({ scripted: provider }),
      SVC_OUTBOUND_ALLOW: `127.0.0.1:${port}`,
      SVC_GATEWAY_RETRIES: '0',
    },
    url: provider.base_url,
    apiKey: API_KEY,
    effectUrl: `${origin}/effects/count`,
    seen: async () => (await get('/seen')) as SeenModel,
    async conversation(key) {
      const seen = (await get(`/seen?key=${encodeURIComponent(key)}`)) as Partial<SeenConversation>;
      if (!seen.last) throw new Error(`nobody has asked under the key ${key}`);
      return seen as SeenConversation;
    },
    effects: async () => (await get('/effects')) as readonly Effect[],
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}
