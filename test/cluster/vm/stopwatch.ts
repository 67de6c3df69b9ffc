/** Returns a function that prints the time since its previous call. */
export function stopwatch(): (what: string) => void {
  let since = Date.now();
  return (what) => {
    const now = Date.now();
    process.stderr.write(`${what}: ${((now - since) / 1000).toFixed(1)} s\n`);
    since = now;
  };
}
