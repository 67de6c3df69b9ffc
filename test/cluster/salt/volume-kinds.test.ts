import { volumeCases } from '../../support/volume-cases.ts';
import { allowedFor, flagsFor, startSalt } from './salt.ts';

volumeCases('salt', async ({ folder }) => {
  const salt = await startSalt({ minions: ['n1'], allowed: allowedFor(folder) });
  return { flags: flagsFor(salt), stop: salt.stop };
});
