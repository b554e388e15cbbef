/** The client side of the manager's control socket (SPEC.md, section 8): one JSON object a line each way, bounded waits. */
package io.tessera.cli.control;
