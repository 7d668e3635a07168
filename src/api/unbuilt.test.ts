import { expect, test } from 'bun:test';
import { operations, unbuilt } from './index.ts';

/** Operations that answer 501. The list may only shrink: what is built leaves it, nothing joins it. */
const UNBUILT: readonly string[] = [
  'agents.CreateAgentTrigger',
  'agents.CreateDeploymentKey',
  'agents.DeleteAgentTrigger',
  'agents.DeployAgent',
  'agents.GetAgentTrigger',
  'agents.GetDeployment',
  'agents.LinkGitHubInstallation',
  'agents.ListAgentTriggerExecutions',
  'agents.ListAgentTriggers',
  'agents.ListDeploymentInvocations',
  'agents.ListDeploymentKeys',
  'agents.ListDeployments',
  'agents.ListGitHubBranches',
  'agents.ListGitHubInstallations',
  'agents.ListGitHubRepositories',
  'agents.RemoveGitHubInstallation',
  'agents.RevokeDeploymentKey',
  'agents.TestAgentTrigger',
  'agents.UpdateAgentTrigger',
  'agents.UpdateDeployment',
  'compat-agents-rest.CreateAgent',
  'compat-agents-rest.CreateSession',
  'compat-agents-rest.DeleteAgent',
  'compat-agents-rest.DeleteSession',
  'compat-agents-rest.GetAgent',
  'compat-agents-rest.GetApproval',
  'compat-agents-rest.GetSession',
  'compat-agents-rest.GetTurn',
  'compat-agents-rest.ListAgents',
  'compat-agents-rest.ListApprovals',
  'compat-agents-rest.ListItems',
  'compat-agents-rest.ListSessions',
  'compat-agents-rest.ListSubagents',
  'compat-agents-rest.ListTraces',
  'compat-agents-rest.ListTurnItems',
  'compat-agents-rest.ListTurns',
  'compat-agents-rest.ResolveApproval',
  'compat-agents-rest.StreamEvents',
  'compat-agents-rest.SubmitEvents',
  'compat-agents-rest.UpdateAgent',
  'compat-agents-rest.UpdateSession',
  'compat-agents.CreateAgent',
  'compat-agents.CreateSession',
  'compat-agents.DeleteAgent',
  'compat-agents.DeleteSession',
  'compat-agents.GetAgent',
  'compat-agents.GetApproval',
  'compat-agents.GetSession',
  'compat-agents.GetTurn',
  'compat-agents.ListAgents',
  'compat-agents.ListApprovals',
  'compat-agents.ListItems',
  'compat-agents.ListSessions',
  'compat-agents.ListSubagents',
  'compat-agents.ListTraces',
  'compat-agents.ListTurnItems',
  'compat-agents.ListTurns',
  'compat-agents.ResolveApproval',
  'compat-agents.StreamEvents',
  'compat-agents.SubmitEvents',
  'compat-agents.UpdateAgent',
  'compat-agents.UpdateSession',
  'extra.InvokeDeployment',
  'guide.BuildImage',
  'guide.ClickMouse',
  'guide.DeleteRecording',
  'guide.DownloadRecording',
  'guide.DragMouse',
  'guide.GetComputerCapabilities',
  'guide.GetLspCapabilities',
  'guide.GetLspDiagnostics',
  'guide.GetLspSymbols',
  'guide.ListDisplays',
  'guide.ListRecordings',
  'guide.ListWindows',
  'guide.MoveMouse',
  'guide.PressKey',
  'guide.ReceiveTriggerWebhook',
  'guide.ScrollMouse',
  'guide.SearchLspWorkspaceSymbols',
  'guide.StartRecording',
  'guide.StopRecording',
  'guide.TakeScreenshot',
  'guide.TypeText',
  'workflows.CreateWorkflow',
  'workflows.DeleteWorkflow',
  'workflows.ExecuteWorkflow',
  'workflows.GetWorkflow',
  'workflows.GetWorkflowAtVersion',
  'workflows.GetWorkflowExecution',
  'workflows.GetWorkflowVersionHistory',
  'workflows.ListWorkflowExecutions',
  'workflows.ListWorkflows',
  'workflows.PublishWorkflow',
  'workflows.ReplayWorkflowExecution',
  'workflows.SaveWorkflowDraft',
  'workflows.UnpublishWorkflow',
  'workflows.UpdateWorkflow',
];

const name = ({ spec, id }: { spec: string; id: string }) => `${spec}.${id}`;

test('no operation joins those that are not built', () => {
  const listed = new Set(UNBUILT);
  const joined = unbuilt()
    .map(name)
    .filter((one) => !listed.has(one));
  expect(joined, 'these were built, or are new: build them').toEqual([]);
});

test('what was built has left the list', () => {
  const waiting = new Set(unbuilt().map(name));
  const stale = UNBUILT.filter((one) => !waiting.has(one));
  expect(stale, 'these are built: remove them from UNBUILT in this file').toEqual([]);
});

test('the list holds operations of the contract only, each once', () => {
  const known = new Set(operations.map(name));
  expect(UNBUILT.filter((one) => !known.has(one))).toEqual([]);
  expect(new Set(UNBUILT).size).toBe(UNBUILT.length);
});
