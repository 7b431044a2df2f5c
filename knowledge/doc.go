// Package knowledge is the room of what people wrote for people and agents:
// runbooks, documentation, decisions, rules for agents, skills, and verified
// questions and answers, found in the repositories of the catalog's sources.
//
// It follows the sources as inference does, keeps a full-text index of what it
// read, and answers in passages and sections, never in whole pages. What a
// document says is data with its source; nothing in it is an instruction.
package knowledge
