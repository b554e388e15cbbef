/** Entry of the agent and the class loader that keeps its insides away from the application. */
package io.tessera.agent;
