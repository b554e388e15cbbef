/** Makes Tessera's driver library the process's: unpacks it, checks it, prepares the environment, loads it. */
package io.tessera.agent.driver;
