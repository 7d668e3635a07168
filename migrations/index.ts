import type { Migration } from '../daemon/db/migrate.ts';
import core from './0001_core.sql' with { type: 'text' };
import auth from './0002_auth.sql' with { type: 'text' };
import sandbox from './0003_sandbox.sql' with { type: 'text' };
import lifecycle from './0004_lifecycle.sql' with { type: 'text' };
import ports from './0005_ports.sql' with { type: 'text' };
import ssh from './0006_ssh.sql' with { type: 'text' };
import storage from './0007_storage.sql' with { type: 'text' };
import network from './0008_network.sql' with { type: 'text' };
import otlp from './0009_otlp.sql' with { type: 'text' };
import automation from './0010_automation.sql' with { type: 'text' };
import code from './0011_code.sql' with { type: 'text' };
import settings from './0012_settings.sql' with { type: 'text' };
import providers from './0013_providers.sql' with { type: 'text' };
import routes from './0014_routes.sql' with { type: 'text' };
import spending from './0015_spending.sql' with { type: 'text' };
import responses from './0016_responses.sql' with { type: 'text' };
import guardrails from './0017_guardrails.sql' with { type: 'text' };
import memory from './0018_memory.sql' with { type: 'text' };
import functions from './0019_functions.sql' with { type: 'text' };
import mcp from './0020_mcp.sql' with { type: 'text' };
import agents from './0021_agents.sql' with { type: 'text' };
import agentMemories from './0022_agent_memories.sql' with { type: 'text' };
import agentSessions from './0023_agent_sessions.sql' with { type: 'text' };
import agentArtifacts from './0024_agent_artifacts.sql' with { type: 'text' };
import agentReviews from './0025_agent_reviews.sql' with { type: 'text' };

/** The schema, step by step, embedded in the executable. */
export const migrations: readonly Migration[] = [
  { version: 1, name: 'core', sql: core },
  { version: 2, name: 'auth', sql: auth },
  { version: 3, name: 'sandbox', sql: sandbox },
  { version: 4, name: 'lifecycle', sql: lifecycle },
  { version: 5, name: 'ports', sql: ports },
  { version: 6, name: 'ssh', sql: ssh },
  { version: 7, name: 'storage', sql: storage },
  { version: 8, name: 'network', sql: network },
  { version: 9, name: 'otlp', sql: otlp },
  { version: 10, name: 'automation', sql: automation },
  { version: 11, name: 'code', sql: code },
  { version: 12, name: 'settings', sql: settings },
  { version: 13, name: 'providers', sql: providers },
  { version: 14, name: 'routes', sql: routes },
  { version: 15, name: 'spending', sql: spending },
  { version: 16, name: 'responses', sql: responses },
  { version: 17, name: 'guardrails', sql: guardrails },
  { version: 18, name: 'memory', sql: memory },
  { version: 19, name: 'functions', sql: functions },
  { version: 20, name: 'mcp', sql: mcp },
  { version: 21, name: 'agents', sql: agents },
  { version: 22, name: 'agent_memories', sql: agentMemories },
  { version: 23, name: 'agent_sessions', sql: agentSessions },
  { version: 24, name: 'agent_artifacts', sql: agentArtifacts },
  { version: 25, name: 'agent_reviews', sql: agentReviews },
];
