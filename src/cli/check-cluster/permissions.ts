import { isAllowed } from '../../kube/access-review.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Check } from '../lib/checks/report.ts';
import { CALLER_RULES, type CallerRule } from './caller-rules.ts';

/** Checks the permissions for commands: returns one check if all are granted, else one per kind. */
export async function permissionChecks(client: KubeClient, signal: AbortSignal): Promise<Check[]> {
  const checks = await Promise.all(CALLER_RULES.map((rule) => kindCheck(client, rule, signal)));
  const refused = checks.filter((check) => check !== undefined);
  return refused.length === 0
    ? [
        {
          check: 'permissions',
          ok: true,
          message: 'you have all permissions that commands for Volumes need',
        },
      ]
    : refused;
}

async function kindCheck(
  client: KubeClient,
  { group, resource, verbs }: CallerRule,
  signal: AbortSignal,
): Promise<Check | undefined> {
  const answers = await Promise.all(
    verbs.map((verb) => isAllowed(client, { group, resource, verb }, signal)),
  );
  const refused = verbs.filter((_, index) => !answers[index]);
  if (refused.length === 0) return undefined;
  const name = group === '' ? resource : `${resource}.${group}`;
  return {
    check: 'permissions',
    ok: false,
    message: `you may not ${refused.join(', ')} ${name}`,
    hint: 'Ask an administrator to create this role and bind it to you: commands that need it are refused.',
    command: `kubectl create clusterrole stowage-user-${resource} --verb=${refused.join(',')} --resource=${name}`,
  };
}
