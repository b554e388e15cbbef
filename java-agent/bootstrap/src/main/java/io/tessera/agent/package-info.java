/** Entry point of the agent, and the class loader that isolates its internal classes from the application. */
package io.tessera.agent;
