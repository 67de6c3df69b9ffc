import { expect, test } from '@jest/globals';
import { inCluster } from '../../../src/cli/lib/in-cluster.ts';

test.each([
  ['kubectl delete pvc a -n b', 'kubectl --context c delete pvc a -n b'],
  [
    'kubectl get volume a -o yaml > volume.yaml',
    'kubectl --context c get volume a -o yaml > volume.yaml',
  ],
  ['stowage watch', 'stowage --context c watch'],
  ['kubectl get a; kubectl logs b', 'kubectl --context c get a; kubectl --context c logs b'],
  ["kubectl annotate node 'x; kubectl y'", "kubectl --context c annotate node 'x; kubectl y'"],
  ['ssh kubectl true', 'ssh kubectl true'],
  ['salt m test.ping', 'salt m test.ping'],
])('inCluster adds connection flags to the commands of `%s`', (line, becomes) => {
  expect(inCluster({ color: true, context: 'c' })(line)).toBe(becomes);
  expect(inCluster({ color: true })(line)).toBe(line);
});

test('inCluster writes a value that begins with a hyphen as --flag=value', () => {
  expect(inCluster({ color: true, context: '--as=root', kubeconfig: '/k' })('stowage watch')).toBe(
    "stowage --kubeconfig /k '--context=--as=root' watch",
  );
});
