/** Makes Tessera's driver library the driver of the process: unpacks and checks it, prepares the environment, loads it. */
package io.tessera.agent.driver;
