import { agentArtifacts } from './agents/artifacts.ts';
import { agentDefinitions } from './agents/definitions.ts';
import { agentDeployments } from './agents/deployments.ts';
import { github } from './agents/github.ts';
import { agentMemories } from './agents/memories.ts';
import { agentReviews } from './agents/reviews.ts';
import { agentSessions } from './agents/sessions.ts';
import { agentSpawn } from './agents/spawn.ts';
import { agentTriggers } from './agents/triggers.ts';
import { agentTurns } from './agents/turns.ts';
import { apiKeys } from './api-keys/keys.ts';
import { exchange } from './auth/exchange.ts';
import { launch } from './auth/launch.ts';
import { login } from './auth/login.ts';
import { session } from './auth/session.ts';
import { team } from './auth/team.ts';
import { compatAgents } from './compat-agents/agents.ts';
import { compatApprovals } from './compat-agents/approvals.ts';
import { compatAgentsRpc } from './compat-agents/rpc.ts';
import { compatSessions } from './compat-agents/sessions.ts';
import { compatTurns } from './compat-agents/turns.ts';
import { runtimeConfig } from './config/runtime.ts';
import { configValidation } from './config/validation.ts';
import type { Endpoint, Group, SpecName } from './endpoint.ts';
import { functions } from './functions/functions.ts';
import { audio } from './gateway/audio.ts';
import { budgets } from './gateway/budgets.ts';
import { cache } from './gateway/cache.ts';
import { gatewayModels } from './gateway/catalog.ts';
import { chat } from './gateway/chat.ts';
import { completions } from './gateway/completions.ts';
import { embeddings } from './gateway/embeddings.ts';
import { guardrails } from './gateway/guardrails.ts';
import { compatImages } from './gateway/images.ts';
import { gatewayInstance } from './gateway/instance.ts';
import { messages } from './gateway/messages.ts';
import { modelRoutes } from './gateway/model-routes.ts';
import { compatModels } from './gateway/models.ts';
import { moderations } from './gateway/moderations.ts';
import { rerank } from './gateway/rerank.ts';
import { responseList } from './gateway/response-list.ts';
import { responses } from './gateway/responses.ts';
import { usage } from './gateway/usage.ts';
import { imageVariations } from './gateway/variations.ts';
import { mcpServers } from './mcp/servers.ts';
import { mcpTools } from './mcp/tools.ts';
import { memoryCollections } from './memory/collections.ts';
import { memoryDocuments } from './memory/documents.ts';
import { providerCatalog } from './providers/catalog.ts';
import { providerConfig } from './providers/config.ts';
import { providerKeys } from './providers/keys.ts';
import { sandboxCode } from './sandbox/code.ts';
import { sandboxCommand } from './sandbox/command.ts';
import { sandboxComputer } from './sandbox/computer.ts';
import { sandboxCrons } from './sandbox/crons.ts';
import { sandboxFiles } from './sandbox/files.ts';
import { sandboxHistory } from './sandbox/history.ts';
import { images } from './sandbox/images.ts';
import { sandboxLifecycle } from './sandbox/lifecycle.ts';
import { lifecycleWebhooks } from './sandbox/lifecycle-webhooks.ts';
import { sandboxLsp } from './sandbox/lsp.ts';
import { sandboxMetrics } from './sandbox/metrics.ts';
import { sandboxNetwork } from './sandbox/network.ts';
import { otlpSettings } from './sandbox/otlp.ts';
import { sandboxPorts } from './sandbox/ports.ts';
import { sandboxRecordings } from './sandbox/recordings.ts';
import { snapshots } from './sandbox/snapshots.ts';
import { sandboxSsh } from './sandbox/ssh.ts';
import { sandboxTemplates } from './sandbox/templates.ts';
import { volumes } from './sandbox/volumes.ts';
import { sandboxWebhooks } from './sandbox/webhooks.ts';
import { jobs } from './system/jobs.ts';
import { system } from './system/system.ts';
import { workflowDefinitions } from './workflows/definitions.ts';
import { workflowExecutions } from './workflows/executions.ts';
import { workflowVersions } from './workflows/versions.ts';

/** Every group of operations that the service has, by the name that its module implements. */
export const groups = {
  login,
  exchange,
  launch,
  session,
  team,
  apiKeys,
  sandboxCode,
  sandboxCommand,
  sandboxComputer,
  sandboxCrons,
  sandboxFiles,
  sandboxHistory,
  images,
  lifecycleWebhooks,
  sandboxLifecycle,
  sandboxLsp,
  sandboxMetrics,
  sandboxNetwork,
  otlpSettings,
  sandboxPorts,
  sandboxRecordings,
  snapshots,
  sandboxSsh,
  sandboxTemplates,
  volumes,
  sandboxWebhooks,
  agentArtifacts,
  agentDefinitions,
  agentDeployments,
  github,
  agentMemories,
  agentReviews,
  agentSessions,
  agentSpawn,
  agentTriggers,
  agentTurns,
  audio,
  gatewayModels,
  chat,
  completions,
  embeddings,
  compatImages,
  gatewayInstance,
  messages,
  compatModels,
  modelRoutes,
  moderations,
  rerank,
  responseList,
  responses,
  imageVariations,
  usage,
  budgets,
  cache,
  guardrails,
  providerCatalog,
  providerConfig,
  providerKeys,
  memoryCollections,
  memoryDocuments,
  mcpServers,
  mcpTools,
  functions,
  workflowDefinitions,
  workflowExecutions,
  workflowVersions,
  runtimeConfig,
  configValidation,
  compatAgents,
  compatApprovals,
  compatAgentsRpc,
  compatSessions,
  compatTurns,
  jobs,
  system,
} as const satisfies Readonly<Record<string, Group>>;

/** Every operation, each once. */
export const operations: readonly Endpoint[] = Object.values<Group>(groups).flatMap((group) =>
  Object.values(group),
);

/**
 * The operations of a published specification. `compat-agents-rest.source` publishes the operations of
 * `compat-agents-rest` a second time, before its references are resolved.
 */
export function operationsOf(spec: SpecName): readonly Endpoint[] {
  const declared = spec === 'compat-agents-rest.source' ? 'compat-agents-rest' : spec;
  return operations.filter((operation) => operation.spec === declared);
}

/** The operations that answer 501, because their module does not exist yet. */
export function unbuilt(): readonly Endpoint[] {
  return operations.filter((operation) => operation.unbuilt);
}
