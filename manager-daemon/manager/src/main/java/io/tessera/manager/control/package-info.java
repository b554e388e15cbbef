/** The control socket: one JSON object a line each way (SPEC.md, section 8). Runs on the conductor's thread and never waits. */
package io.tessera.manager.control;
