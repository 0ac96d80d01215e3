/** A sandbox's place in the network; the same for all its runtimes. */
export interface NetworkLease {
  readonly address: string;
  readonly prefixLength: number;
  readonly gateway: string;
  /** Address at which the sandbox's resolver answers; the same in every sandbox. null: the host has none. */
  readonly resolver: string | null;
}

export interface Network {
  /** The address for a new sandbox, distinct from all of `taken`. capacity_exceeded when the subnet is full. */
  allocate(taken: ReadonlySet<string>): string;
  lease(address: string): NetworkLease;
}
