import { endpoint, type Group } from '../endpoint.ts';
import { fields, int32, int64, model, t, timestamp } from '../schema.ts';

/** A GitHub App installation that is linked to the tenant. */
export const GitHubInstallation = model('GitHubInstallation', {
  id: int64(),
  tenantId: t.String(),
  installationId: int64(),
  accountLogin: t.String(),
  accountType: t.String(),
  appId: int64(),
  repositorySelection: t.String(),
  status: t.String(),
  installedBy: t.String(),
  createdAt: timestamp(),
  updatedAt: timestamp(),
});

/** A repository that an installation reaches. */
export const GitHubRepository = model('GitHubRepository', {
  id: int64(),
  name: t.String(),
  fullName: t.String(),
  description: t.String(),
  private: t.Boolean(),
  defaultBranch: t.String(),
  language: t.String(),
  sizeKb: int32(),
  htmlUrl: t.String(),
});

/** A branch of a repository. */
export const GitHubBranch = model('GitHubBranch', {
  name: t.String(),
  protected: t.Boolean(),
  commitSha: t.String(),
});

const here = { spec: 'agents', tag: 'GitHub' } as const;

/** GitHub App installations, and the repositories that they reach. */
export const github = {
  ListGitHubInstallations: endpoint({
    ...here,
    id: 'ListGitHubInstallations',
    method: 'GET',
    path: '/v1/integrations/github/installations',
    summary: 'List the linked installations',
    query: fields({ tenantId: t.String() }),
    response: model('ListGitHubInstallationsResponse', { installations: t.Array(GitHubInstallation) }),
    access: 'viewer',
    unbuilt: true,
  }),
  LinkGitHubInstallation: endpoint({
    ...here,
    id: 'LinkGitHubInstallation',
    method: 'POST',
    path: '/v1/integrations/github/installations/link',
    summary: 'Link an installation to the tenant',
    body: model('LinkGitHubInstallationRequest', { tenantId: t.String(), installationId: int64() }),
    response: model('LinkGitHubInstallationResponse', { installation: GitHubInstallation }),
    access: 'admin',
    unbuilt: true,
  }),
  RemoveGitHubInstallation: endpoint({
    ...here,
    id: 'RemoveGitHubInstallation',
    method: 'DELETE',
    path: '/v1/integrations/github/installations/{installationId}',
    summary: 'Unlink an installation',
    params: t.Object({ installationId: int64() }),
    query: fields({ tenantId: t.String() }),
    response: model('RemoveGitHubInstallationResponse', { success: t.Boolean(), message: t.String() }),
    access: 'admin',
    unbuilt: true,
  }),
  ListGitHubRepositories: endpoint({
    ...here,
    id: 'ListGitHubRepositories',
    method: 'GET',
    path: '/v1/integrations/github/installations/{installationId}/repos',
    summary: 'Search the repositories of an installation',
    params: t.Object({ installationId: int64() }),
    query: fields({ tenantId: t.String(), query: t.String(), page: int32(), perPage: int32() }),
    response: model('ListGitHubRepositoriesResponse', {
      repositories: t.Array(GitHubRepository),
      total: int32(),
    }),
    access: 'viewer',
    unbuilt: true,
  }),
  ListGitHubBranches: endpoint({
    ...here,
    id: 'ListGitHubBranches',
    method: 'GET',
    path: '/v1/integrations/github/installations/{installationId}/repos/{owner}/{repo}/branches',
    summary: 'List the branches of a repository',
    params: t.Object({
      installationId: int64(),
      owner: t.String({ minLength: 1 }),
      repo: t.String({ minLength: 1 }),
    }),
    query: fields({ tenantId: t.String(), page: int32(), perPage: int32() }),
    response: model('ListGitHubBranchesResponse', { branches: t.Array(GitHubBranch) }),
    access: 'viewer',
    unbuilt: true,
  }),
} satisfies Group;
