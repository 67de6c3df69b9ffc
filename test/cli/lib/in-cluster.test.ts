import { expect, test } from '@jest/globals';
import { hintInCluster, inCluster } from '../../../src/cli/lib/in-cluster.ts';

test.each([
  ['kubectl delete pvc a -n b', 'kubectl --context c delete pvc a -n b'],
  [
    'kubectl get volume a -o yaml > volume.yaml',
    'kubectl --context c get volume a -o yaml > volume.yaml',
  ],
  ['stowage watch', 'stowage --context c watch'],
  ['kubectl get a; kubectl logs b', 'kubectl --context c get a; kubectl --context c logs b'],
  ["kubectl annotate node 'x; kubectl y'", "kubectl --context c annotate node 'x; kubectl y'"],
  [
    `printf %s '{"a":"it'\\''s; kubectl y"}' | kubectl replace --force -f -`,
    `printf %s '{"a":"it'\\''s; kubectl y"}' | kubectl --context c replace --force -f -`,
  ],
  [
    "stowage print sudoers | ssh 'root@n1' 'tee x | stowage y'",
    "stowage --context c print sudoers | ssh 'root@n1' 'tee x | stowage y'",
  ],
  ['ssh kubectl true', 'ssh kubectl true'],
  ['salt m test.ping', 'salt m test.ping'],
])('inCluster adds connection flags to the commands of `%s`', (line, becomes) => {
  expect(inCluster({ context: 'c' })(line)).toBe(becomes);
  expect(inCluster({})(line)).toBe(line);
});

test('inCluster writes a value that begins with a hyphen as --flag=value', () => {
  expect(inCluster({ context: '--as=root', kubeconfig: '/k' })('stowage watch')).toBe(
    "stowage --kubeconfig /k '--context=--as=root' watch",
  );
});

test.each([
  ['See why: stowage why volume a', 'See why: stowage --context c why volume a'],
  [
    'Stop it: kubectl delete pvc a -n b. Or try again: stowage retry volume a',
    'Stop it: kubectl --context c delete pvc a -n b. Or try again: stowage --context c retry volume a',
  ],
  [
    'Delete it: stowage delete volume a; kubectl delete pvc b',
    'Delete it: stowage --context c delete volume a; kubectl --context c delete pvc b',
  ],
  [
    "The daemon's user needs it: kubectl annotate node 'x: kubectl y' 'it'\\''s: stowage z'",
    "The daemon's user needs it: kubectl --context c annotate node 'x: kubectl y' 'it'\\''s: stowage z'",
  ],
  [
    "Replace it: printf %s '| kubectl x' | kubectl replace --force -f -",
    "Replace it: printf %s '| kubectl x' | kubectl --context c replace --force -f -",
  ],
  ['Check that stowage watch runs there.', 'Check that stowage watch runs there.'],
  ['Check the file: `kubectl config view`.', 'Check the file: `kubectl config view`.'],
  ['Install it: stowage install', 'Install it: stowage --context c install'],
])('hintInCluster adds connection flags to the commands in `%s`', (hint, becomes) => {
  expect(hintInCluster({ context: 'c', namespace: 'n' }, 'why')(hint)).toBe(becomes);
  expect(hintInCluster({})(hint)).toBe(hint);
});

test('hintInCluster adds the namespace to commands that install, unless they have one', () => {
  const hint = 'Keep it: stowage install -n a. Or move it: stowage install --components rbac';
  const inHint = hintInCluster({ context: 'c', namespace: 'b' }, 'install');
  expect(inHint(hint)).toBe(
    'Keep it: stowage --context c install -n a. Or move it: stowage --context c -n b install --components rbac',
  );
});
