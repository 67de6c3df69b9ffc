import { describe } from '@jest/globals';
import { describeSuites } from '../api-server/server.ts';
import { GATED_SUITES, SUITES } from '../api-server/suites.ts';
import { startSandboxServer } from '../support/sandbox-server.ts';

describe('the sandbox', () => describeSuites(SUITES, () => startSandboxServer()));

describe('the sandbox with the gate CrossNamespaceVolumeDataSource', () =>
  describeSuites(GATED_SUITES, () =>
    startSandboxServer({ featureGates: { CrossNamespaceVolumeDataSource: true } }),
  ));
