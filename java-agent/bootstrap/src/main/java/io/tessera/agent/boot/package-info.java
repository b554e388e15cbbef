/**
 * Code that instrumented methods call, defined in the bootstrap loader so that every class of the application can reach it: the tables of
 * live device memory and of launches, and the bean that shows them. Uses the JDK alone.
 */
package io.tessera.agent.boot;
