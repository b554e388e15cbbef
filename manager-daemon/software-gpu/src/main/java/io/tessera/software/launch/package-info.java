/** What a launch asks for, what it may have, how it is stopped from outside and how it ends. */
package io.tessera.software.launch;
