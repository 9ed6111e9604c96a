// Where does a process run? What decides whether its number, its port and its start time mean anything to another one.

export interface Whereabouts {
  /** One word for all that follows. */
  id: string;
  /** The same after a restart of the machine. */
  machine: string;
  /** For people. */
  host: string;
  /** Another one after each restart of the machine. */
  boot: string;
  /** Namespaces: in which numbers of processes count, and in which ports. */
  pids: string;
  net: string;
}
