/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
"use strict";

var $protobuf = require("protobufjs/minimal");

var $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
var $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError;

var $root = $protobuf.roots["default"] || ($protobuf.roots["default"] = {});

$root.svc = (function() {

    var svc = {};

    svc.agent = (function() {

        var agent = {};

        agent.v1 = (function() {

            var v1 = {};

            v1.BusPacket = (function() {

                var BusPacket = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                BusPacket.prototype.trace_id = "";
                BusPacket.prototype.sender_id = "";
                BusPacket.prototype.created_at = null;
                BusPacket.prototype.protocol_version = 0;
                BusPacket.prototype.signature_metadata = null;
                BusPacket.prototype.identity = null;
                BusPacket.prototype.job_request = null;
                BusPacket.prototype.job_result = null;
                BusPacket.prototype.heartbeat = null;
                BusPacket.prototype.alert = null;
                BusPacket.prototype.job_progress = null;
                BusPacket.prototype.job_cancel = null;
                BusPacket.prototype.handshake = null;
                BusPacket.prototype.worker_handshake_challenge_request = null;
                BusPacket.prototype.worker_handshake_challenge = null;
                BusPacket.prototype.worker_handshake_authenticate = null;
                BusPacket.prototype.worker_handshake_result = null;
                BusPacket.prototype.signature = $util.newBuffer([]);
                BusPacket.prototype.auth_token = "";

                var $oneOfFields;

                $Object.defineProperty(BusPacket.prototype, "payload", {
                    get: $util.oneOfGetter($oneOfFields = ["job_request", "job_result", "heartbeat", "alert", "job_progress", "job_cancel", "handshake", "worker_handshake_challenge_request", "worker_handshake_challenge", "worker_handshake_authenticate", "worker_handshake_result"]),
                    set: $util.oneOfSetter($oneOfFields)
                });

                BusPacket.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.trace_id != null && $Object.hasOwnProperty.call(message, "trace_id") && message.trace_id !== "")
                        writer.uint32(10).string(message.trace_id);
                    if (message.sender_id != null && $Object.hasOwnProperty.call(message, "sender_id") && message.sender_id !== "")
                        writer.uint32(18).string(message.sender_id);
                    if (message.created_at != null && $Object.hasOwnProperty.call(message, "created_at"))
                        $root.google.protobuf.Timestamp.encode(message.created_at, writer.uint32(26).fork(), _depth + 1).ldelim();
                    if (message.protocol_version != null && $Object.hasOwnProperty.call(message, "protocol_version") && message.protocol_version !== 0)
                        writer.uint32(32).int32(message.protocol_version);
                    if (message.signature_metadata != null && $Object.hasOwnProperty.call(message, "signature_metadata"))
                        $root.svc.agent.v1.SignatureMetadata.encode(message.signature_metadata, writer.uint32(42).fork(), _depth + 1).ldelim();
                    if (message.identity != null && $Object.hasOwnProperty.call(message, "identity"))
                        $root.svc.agent.v1.IdentityBinding.encode(message.identity, writer.uint32(50).fork(), _depth + 1).ldelim();
                    if (message.job_request != null && $Object.hasOwnProperty.call(message, "job_request"))
                        $root.svc.agent.v1.JobRequest.encode(message.job_request, writer.uint32(82).fork(), _depth + 1).ldelim();
                    if (message.job_result != null && $Object.hasOwnProperty.call(message, "job_result"))
                        $root.svc.agent.v1.JobResult.encode(message.job_result, writer.uint32(90).fork(), _depth + 1).ldelim();
                    if (message.heartbeat != null && $Object.hasOwnProperty.call(message, "heartbeat"))
                        $root.svc.agent.v1.Heartbeat.encode(message.heartbeat, writer.uint32(98).fork(), _depth + 1).ldelim();
                    if (message.alert != null && $Object.hasOwnProperty.call(message, "alert"))
                        $root.svc.agent.v1.SystemAlert.encode(message.alert, writer.uint32(106).fork(), _depth + 1).ldelim();
                    if (message.signature != null && $Object.hasOwnProperty.call(message, "signature") && message.signature.length)
                        writer.uint32(114).bytes(message.signature);
                    if (message.job_progress != null && $Object.hasOwnProperty.call(message, "job_progress"))
                        $root.svc.agent.v1.JobProgress.encode(message.job_progress, writer.uint32(122).fork(), _depth + 1).ldelim();
                    if (message.job_cancel != null && $Object.hasOwnProperty.call(message, "job_cancel"))
                        $root.svc.agent.v1.JobCancel.encode(message.job_cancel, writer.uint32(130).fork(), _depth + 1).ldelim();
                    if (message.handshake != null && $Object.hasOwnProperty.call(message, "handshake"))
                        $root.svc.agent.v1.Handshake.encode(message.handshake, writer.uint32(138).fork(), _depth + 1).ldelim();
                    if (message.auth_token != null && $Object.hasOwnProperty.call(message, "auth_token") && message.auth_token !== "")
                        writer.uint32(146).string(message.auth_token);
                    if (message.worker_handshake_challenge_request != null && $Object.hasOwnProperty.call(message, "worker_handshake_challenge_request"))
                        $root.svc.agent.v1.WorkerHandshakeChallengeRequest.encode(message.worker_handshake_challenge_request, writer.uint32(154).fork(), _depth + 1).ldelim();
                    if (message.worker_handshake_challenge != null && $Object.hasOwnProperty.call(message, "worker_handshake_challenge"))
                        $root.svc.agent.v1.WorkerHandshakeChallenge.encode(message.worker_handshake_challenge, writer.uint32(162).fork(), _depth + 1).ldelim();
                    if (message.worker_handshake_authenticate != null && $Object.hasOwnProperty.call(message, "worker_handshake_authenticate"))
                        $root.svc.agent.v1.WorkerHandshakeAuthenticate.encode(message.worker_handshake_authenticate, writer.uint32(170).fork(), _depth + 1).ldelim();
                    if (message.worker_handshake_result != null && $Object.hasOwnProperty.call(message, "worker_handshake_result"))
                        $root.svc.agent.v1.WorkerHandshakeResult.encode(message.worker_handshake_result, writer.uint32(178).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                BusPacket.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.BusPacket();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.trace_id = value;
                                else
                                    delete message.trace_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.sender_id = value;
                                else
                                    delete message.sender_id;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                message.created_at = $root.google.protobuf.Timestamp.decode(reader, reader.size(), $undefined, _depth + 1, message.created_at);
                                continue;
                            }
                        case 4: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.protocol_version = value;
                                else
                                    delete message.protocol_version;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                message.signature_metadata = $root.svc.agent.v1.SignatureMetadata.decode(reader, reader.size(), $undefined, _depth + 1, message.signature_metadata);
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                message.identity = $root.svc.agent.v1.IdentityBinding.decode(reader, reader.size(), $undefined, _depth + 1, message.identity);
                                continue;
                            }
                        case 10: {
                                if (wireType !== 2)
                                    break;
                                message.job_request = $root.svc.agent.v1.JobRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.job_request);
                                message.payload = "job_request";
                                continue;
                            }
                        case 11: {
                                if (wireType !== 2)
                                    break;
                                message.job_result = $root.svc.agent.v1.JobResult.decode(reader, reader.size(), $undefined, _depth + 1, message.job_result);
                                message.payload = "job_result";
                                continue;
                            }
                        case 12: {
                                if (wireType !== 2)
                                    break;
                                message.heartbeat = $root.svc.agent.v1.Heartbeat.decode(reader, reader.size(), $undefined, _depth + 1, message.heartbeat);
                                message.payload = "heartbeat";
                                continue;
                            }
                        case 13: {
                                if (wireType !== 2)
                                    break;
                                message.alert = $root.svc.agent.v1.SystemAlert.decode(reader, reader.size(), $undefined, _depth + 1, message.alert);
                                message.payload = "alert";
                                continue;
                            }
                        case 15: {
                                if (wireType !== 2)
                                    break;
                                message.job_progress = $root.svc.agent.v1.JobProgress.decode(reader, reader.size(), $undefined, _depth + 1, message.job_progress);
                                message.payload = "job_progress";
                                continue;
                            }
                        case 16: {
                                if (wireType !== 2)
                                    break;
                                message.job_cancel = $root.svc.agent.v1.JobCancel.decode(reader, reader.size(), $undefined, _depth + 1, message.job_cancel);
                                message.payload = "job_cancel";
                                continue;
                            }
                        case 17: {
                                if (wireType !== 2)
                                    break;
                                message.handshake = $root.svc.agent.v1.Handshake.decode(reader, reader.size(), $undefined, _depth + 1, message.handshake);
                                message.payload = "handshake";
                                continue;
                            }
                        case 19: {
                                if (wireType !== 2)
                                    break;
                                message.worker_handshake_challenge_request = $root.svc.agent.v1.WorkerHandshakeChallengeRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.worker_handshake_challenge_request);
                                message.payload = "worker_handshake_challenge_request";
                                continue;
                            }
                        case 20: {
                                if (wireType !== 2)
                                    break;
                                message.worker_handshake_challenge = $root.svc.agent.v1.WorkerHandshakeChallenge.decode(reader, reader.size(), $undefined, _depth + 1, message.worker_handshake_challenge);
                                message.payload = "worker_handshake_challenge";
                                continue;
                            }
                        case 21: {
                                if (wireType !== 2)
                                    break;
                                message.worker_handshake_authenticate = $root.svc.agent.v1.WorkerHandshakeAuthenticate.decode(reader, reader.size(), $undefined, _depth + 1, message.worker_handshake_authenticate);
                                message.payload = "worker_handshake_authenticate";
                                continue;
                            }
                        case 22: {
                                if (wireType !== 2)
                                    break;
                                message.worker_handshake_result = $root.svc.agent.v1.WorkerHandshakeResult.decode(reader, reader.size(), $undefined, _depth + 1, message.worker_handshake_result);
                                message.payload = "worker_handshake_result";
                                continue;
                            }
                        case 14: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.signature = value;
                                else
                                    delete message.signature;
                                continue;
                            }
                        case 18: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.auth_token = value;
                                else
                                    delete message.auth_token;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return BusPacket;
            })();

            v1.SignatureMetadata = (function() {

                var SignatureMetadata = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                SignatureMetadata.prototype.profile_version = "";
                SignatureMetadata.prototype.algorithm = "";
                SignatureMetadata.prototype.message_id = $util.newBuffer([]);
                SignatureMetadata.prototype.audience = "";
                SignatureMetadata.prototype.expires_at = null;
                SignatureMetadata.prototype.key_id = "";

                SignatureMetadata.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.profile_version != null && $Object.hasOwnProperty.call(message, "profile_version") && message.profile_version !== "")
                        writer.uint32(10).string(message.profile_version);
                    if (message.algorithm != null && $Object.hasOwnProperty.call(message, "algorithm") && message.algorithm !== "")
                        writer.uint32(18).string(message.algorithm);
                    if (message.message_id != null && $Object.hasOwnProperty.call(message, "message_id") && message.message_id.length)
                        writer.uint32(26).bytes(message.message_id);
                    if (message.audience != null && $Object.hasOwnProperty.call(message, "audience") && message.audience !== "")
                        writer.uint32(34).string(message.audience);
                    if (message.expires_at != null && $Object.hasOwnProperty.call(message, "expires_at"))
                        $root.google.protobuf.Timestamp.encode(message.expires_at, writer.uint32(42).fork(), _depth + 1).ldelim();
                    if (message.key_id != null && $Object.hasOwnProperty.call(message, "key_id") && message.key_id !== "")
                        writer.uint32(50).string(message.key_id);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                SignatureMetadata.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.SignatureMetadata();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.profile_version = value;
                                else
                                    delete message.profile_version;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.algorithm = value;
                                else
                                    delete message.algorithm;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.message_id = value;
                                else
                                    delete message.message_id;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.audience = value;
                                else
                                    delete message.audience;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                message.expires_at = $root.google.protobuf.Timestamp.decode(reader, reader.size(), $undefined, _depth + 1, message.expires_at);
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.key_id = value;
                                else
                                    delete message.key_id;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return SignatureMetadata;
            })();

            v1.IdentityBinding = (function() {

                var IdentityBinding = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                IdentityBinding.prototype.tenant_id = "";
                IdentityBinding.prototype.principal_id = "";
                IdentityBinding.prototype.actor_id = "";
                IdentityBinding.prototype.delegation_id = "";

                IdentityBinding.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.tenant_id != null && $Object.hasOwnProperty.call(message, "tenant_id") && message.tenant_id !== "")
                        writer.uint32(10).string(message.tenant_id);
                    if (message.principal_id != null && $Object.hasOwnProperty.call(message, "principal_id") && message.principal_id !== "")
                        writer.uint32(18).string(message.principal_id);
                    if (message.actor_id != null && $Object.hasOwnProperty.call(message, "actor_id") && message.actor_id !== "")
                        writer.uint32(26).string(message.actor_id);
                    if (message.delegation_id != null && $Object.hasOwnProperty.call(message, "delegation_id") && message.delegation_id !== "")
                        writer.uint32(34).string(message.delegation_id);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                IdentityBinding.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.IdentityBinding();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.tenant_id = value;
                                else
                                    delete message.tenant_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.principal_id = value;
                                else
                                    delete message.principal_id;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.actor_id = value;
                                else
                                    delete message.actor_id;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.delegation_id = value;
                                else
                                    delete message.delegation_id;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return IdentityBinding;
            })();

            v1.DispatchIdentity = (function() {

                var DispatchIdentity = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                DispatchIdentity.prototype.dispatch_id = "";
                DispatchIdentity.prototype.attempt = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                DispatchIdentity.prototype.assigned_worker_id = "";

                DispatchIdentity.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.dispatch_id != null && $Object.hasOwnProperty.call(message, "dispatch_id") && message.dispatch_id !== "")
                        writer.uint32(10).string(message.dispatch_id);
                    if (message.attempt != null && $Object.hasOwnProperty.call(message, "attempt") && (typeof message.attempt === "object" ? message.attempt.low || message.attempt.high : message.attempt !== 0))
                        writer.uint32(16).uint64(message.attempt);
                    if (message.assigned_worker_id != null && $Object.hasOwnProperty.call(message, "assigned_worker_id") && message.assigned_worker_id !== "")
                        writer.uint32(26).string(message.assigned_worker_id);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                DispatchIdentity.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.DispatchIdentity();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.dispatch_id = value;
                                else
                                    delete message.dispatch_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.attempt = value;
                                else
                                    delete message.attempt;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.assigned_worker_id = value;
                                else
                                    delete message.assigned_worker_id;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return DispatchIdentity;
            })();

            v1.ResourceRef = (function() {

                var ResourceRef = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                ResourceRef.prototype.resolver_id = "";
                ResourceRef.prototype.uri = "";
                ResourceRef.prototype.sha256 = $util.newBuffer([]);
                ResourceRef.prototype.media_type = "";
                ResourceRef.prototype.size_bytes = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
                ResourceRef.prototype.expires_at = null;
                ResourceRef.prototype.purpose = "";

                ResourceRef.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.resolver_id != null && $Object.hasOwnProperty.call(message, "resolver_id") && message.resolver_id !== "")
                        writer.uint32(10).string(message.resolver_id);
                    if (message.uri != null && $Object.hasOwnProperty.call(message, "uri") && message.uri !== "")
                        writer.uint32(18).string(message.uri);
                    if (message.sha256 != null && $Object.hasOwnProperty.call(message, "sha256") && message.sha256.length)
                        writer.uint32(26).bytes(message.sha256);
                    if (message.media_type != null && $Object.hasOwnProperty.call(message, "media_type") && message.media_type !== "")
                        writer.uint32(34).string(message.media_type);
                    if (message.size_bytes != null && $Object.hasOwnProperty.call(message, "size_bytes") && (typeof message.size_bytes === "object" ? message.size_bytes.low || message.size_bytes.high : message.size_bytes !== 0))
                        writer.uint32(40).uint64(message.size_bytes);
                    if (message.expires_at != null && $Object.hasOwnProperty.call(message, "expires_at"))
                        $root.google.protobuf.Timestamp.encode(message.expires_at, writer.uint32(50).fork(), _depth + 1).ldelim();
                    if (message.purpose != null && $Object.hasOwnProperty.call(message, "purpose") && message.purpose !== "")
                        writer.uint32(58).string(message.purpose);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                ResourceRef.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.ResourceRef();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.resolver_id = value;
                                else
                                    delete message.resolver_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.uri = value;
                                else
                                    delete message.uri;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.sha256 = value;
                                else
                                    delete message.sha256;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.media_type = value;
                                else
                                    delete message.media_type;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.size_bytes = value;
                                else
                                    delete message.size_bytes;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                message.expires_at = $root.google.protobuf.Timestamp.decode(reader, reader.size(), $undefined, _depth + 1, message.expires_at);
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.purpose = value;
                                else
                                    delete message.purpose;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return ResourceRef;
            })();

            v1.JobPriority = (function() {
                var valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "JOB_PRIORITY_UNSPECIFIED"] = 0;
                values[valuesById[1] = "JOB_PRIORITY_INTERACTIVE"] = 1;
                values[valuesById[2] = "JOB_PRIORITY_BATCH"] = 2;
                values[valuesById[3] = "JOB_PRIORITY_CRITICAL"] = 3;
                return values;
            })();

            v1.JobStatus = (function() {
                var valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "JOB_STATUS_UNSPECIFIED"] = 0;
                values[valuesById[1] = "JOB_STATUS_PENDING"] = 1;
                values[valuesById[2] = "JOB_STATUS_SCHEDULED"] = 2;
                values[valuesById[3] = "JOB_STATUS_DISPATCHED"] = 3;
                values[valuesById[4] = "JOB_STATUS_RUNNING"] = 4;
                values[valuesById[5] = "JOB_STATUS_SUCCEEDED"] = 5;
                values[valuesById[6] = "JOB_STATUS_FAILED"] = 6;
                values[valuesById[7] = "JOB_STATUS_CANCELLED"] = 7;
                values[valuesById[8] = "JOB_STATUS_DENIED"] = 8;
                values[valuesById[9] = "JOB_STATUS_TIMEOUT"] = 9;
                values[valuesById[10] = "JOB_STATUS_FAILED_RETRYABLE"] = 10;
                values[valuesById[11] = "JOB_STATUS_FAILED_FATAL"] = 11;
                return values;
            })();

            v1.ActorType = (function() {
                var valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "ACTOR_TYPE_UNSPECIFIED"] = 0;
                values[valuesById[1] = "ACTOR_TYPE_HUMAN"] = 1;
                values[valuesById[2] = "ACTOR_TYPE_SERVICE"] = 2;
                return values;
            })();

            v1.AlertSeverity = (function() {
                var valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "ALERT_SEVERITY_UNSPECIFIED"] = 0;
                values[valuesById[1] = "ALERT_SEVERITY_INFO"] = 1;
                values[valuesById[2] = "ALERT_SEVERITY_WARNING"] = 2;
                values[valuesById[3] = "ALERT_SEVERITY_ERROR"] = 3;
                values[valuesById[4] = "ALERT_SEVERITY_CRITICAL"] = 4;
                return values;
            })();

            v1.ComponentRole = (function() {
                var valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "COMPONENT_ROLE_UNSPECIFIED"] = 0;
                values[valuesById[1] = "COMPONENT_ROLE_GATEWAY"] = 1;
                values[valuesById[2] = "COMPONENT_ROLE_SCHEDULER"] = 2;
                values[valuesById[3] = "COMPONENT_ROLE_WORKER"] = 3;
                values[valuesById[4] = "COMPONENT_ROLE_ORCHESTRATOR"] = 4;
                values[valuesById[5] = "COMPONENT_ROLE_CONTROLLER"] = 5;
                return values;
            })();

            v1.ErrorCode = (function() {
                var valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "ERROR_CODE_UNSPECIFIED"] = 0;
                values[valuesById[100] = "ERROR_CODE_PROTOCOL_VERSION_MISMATCH"] = 100;
                values[valuesById[101] = "ERROR_CODE_MALFORMED_PACKET"] = 101;
                values[valuesById[102] = "ERROR_CODE_UNKNOWN_PAYLOAD"] = 102;
                values[valuesById[103] = "ERROR_CODE_SIGNATURE_INVALID"] = 103;
                values[valuesById[104] = "ERROR_CODE_SIGNATURE_MISSING"] = 104;
                values[valuesById[200] = "ERROR_CODE_JOB_TIMEOUT"] = 200;
                values[valuesById[201] = "ERROR_CODE_RESOURCE_EXHAUSTED"] = 201;
                values[valuesById[202] = "ERROR_CODE_PERMISSION_DENIED"] = 202;
                values[valuesById[203] = "ERROR_CODE_INVALID_INPUT"] = 203;
                values[valuesById[204] = "ERROR_CODE_NOT_FOUND"] = 204;
                values[valuesById[205] = "ERROR_CODE_DUPLICATE"] = 205;
                values[valuesById[206] = "ERROR_CODE_WORKER_UNAVAILABLE"] = 206;
                values[valuesById[300] = "ERROR_CODE_SAFETY_DENIED"] = 300;
                values[valuesById[301] = "ERROR_CODE_POLICY_VIOLATION"] = 301;
                values[valuesById[302] = "ERROR_CODE_RISK_TAG_BLOCKED"] = 302;
                values[valuesById[400] = "ERROR_CODE_TRANSPORT_PUBLISH_FAILED"] = 400;
                values[valuesById[401] = "ERROR_CODE_TRANSPORT_SUBSCRIBE_FAILED"] = 401;
                values[valuesById[402] = "ERROR_CODE_CONNECTION_LOST"] = 402;
                return values;
            })();

            v1.WorkerHandshakePurpose = (function() {
                var valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "WORKER_HANDSHAKE_PURPOSE_UNSPECIFIED"] = 0;
                values[valuesById[1] = "WORKER_HANDSHAKE_PURPOSE_ISSUE"] = 1;
                values[valuesById[2] = "WORKER_HANDSHAKE_PURPOSE_RENEW"] = 2;
                return values;
            })();

            v1.WorkerHandshakeProofAlgorithm = (function() {
                var valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "WORKER_HANDSHAKE_PROOF_ALGORITHM_UNSPECIFIED"] = 0;
                values[valuesById[1] = "WORKER_HANDSHAKE_PROOF_ALGORITHM_ECDSA_P256_SHA256"] = 1;
                return values;
            })();

            v1.WorkerHandshakeRejectionReason = (function() {
                var valuesById = $Object.create(null), values = $Object.create(valuesById);
                values[valuesById[0] = "WORKER_HANDSHAKE_REJECTION_REASON_UNSPECIFIED"] = 0;
                values[valuesById[1] = "WORKER_HANDSHAKE_REJECTION_REASON_INVALID_REQUEST"] = 1;
                values[valuesById[2] = "WORKER_HANDSHAKE_REJECTION_REASON_AUTHENTICATION_FAILED"] = 2;
                values[valuesById[3] = "WORKER_HANDSHAKE_REJECTION_REASON_REPLAY_DETECTED"] = 3;
                values[valuesById[4] = "WORKER_HANDSHAKE_REJECTION_REASON_CLOCK_SKEW"] = 4;
                values[valuesById[5] = "WORKER_HANDSHAKE_REJECTION_REASON_CHALLENGE_EXPIRED"] = 5;
                values[valuesById[6] = "WORKER_HANDSHAKE_REJECTION_REASON_SESSION_REQUIRED"] = 6;
                values[valuesById[7] = "WORKER_HANDSHAKE_REJECTION_REASON_SESSION_INVALID"] = 7;
                values[valuesById[8] = "WORKER_HANDSHAKE_REJECTION_REASON_UNSUPPORTED_VERSION"] = 8;
                values[valuesById[9] = "WORKER_HANDSHAKE_REJECTION_REASON_INTERNAL_ERROR"] = 9;
                return values;
            })();

            v1.JobRequest = (function() {

                var JobRequest = function (properties) {
                    this.env = {};
                    this.labels = {};
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                JobRequest.prototype.job_id = "";
                JobRequest.prototype.topic = "";
                JobRequest.prototype.priority = 0;
                JobRequest.prototype.context_ptr = "";
                JobRequest.prototype.adapter_id = "";
                JobRequest.prototype.env = $util.emptyObject;
                JobRequest.prototype.parent_job_id = "";
                JobRequest.prototype.workflow_id = "";
                JobRequest.prototype.step_index = 0;
                JobRequest.prototype.memory_id = "";
                JobRequest.prototype.context_hints = null;
                JobRequest.prototype.budget = null;
                JobRequest.prototype.tenant_id = "";
                JobRequest.prototype.principal_id = "";
                JobRequest.prototype.labels = $util.emptyObject;
                JobRequest.prototype.meta = null;
                JobRequest.prototype.compensation = null;
                JobRequest.prototype.identity = null;
                JobRequest.prototype.dispatch = null;
                JobRequest.prototype.context_ref = null;
                JobRequest.prototype.inline_input = $util.newBuffer([]);
                JobRequest.prototype.result_ticket = $util.newBuffer([]);
                JobRequest.prototype.grant = $util.newBuffer([]);

                JobRequest.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.job_id != null && $Object.hasOwnProperty.call(message, "job_id") && message.job_id !== "")
                        writer.uint32(10).string(message.job_id);
                    if (message.topic != null && $Object.hasOwnProperty.call(message, "topic") && message.topic !== "")
                        writer.uint32(18).string(message.topic);
                    if (message.priority != null && $Object.hasOwnProperty.call(message, "priority") && message.priority !== 0)
                        writer.uint32(24).int32(message.priority);
                    if (message.context_ptr != null && $Object.hasOwnProperty.call(message, "context_ptr") && message.context_ptr !== "")
                        writer.uint32(34).string(message.context_ptr);
                    if (message.adapter_id != null && $Object.hasOwnProperty.call(message, "adapter_id") && message.adapter_id !== "")
                        writer.uint32(42).string(message.adapter_id);
                    if (message.env != null && $Object.hasOwnProperty.call(message, "env"))
                        for (var keys = $Object.keys(message.env), i = 0; i < keys.length; ++i)
                            writer.uint32(50).fork().uint32(10).string(keys[i]).uint32(18).string(message.env[keys[i]]).ldelim();
                    if (message.parent_job_id != null && $Object.hasOwnProperty.call(message, "parent_job_id") && message.parent_job_id !== "")
                        writer.uint32(58).string(message.parent_job_id);
                    if (message.workflow_id != null && $Object.hasOwnProperty.call(message, "workflow_id") && message.workflow_id !== "")
                        writer.uint32(66).string(message.workflow_id);
                    if (message.step_index != null && $Object.hasOwnProperty.call(message, "step_index") && message.step_index !== 0)
                        writer.uint32(72).int32(message.step_index);
                    if (message.memory_id != null && $Object.hasOwnProperty.call(message, "memory_id") && message.memory_id !== "")
                        writer.uint32(82).string(message.memory_id);
                    if (message.context_hints != null && $Object.hasOwnProperty.call(message, "context_hints"))
                        $root.svc.agent.v1.ContextHints.encode(message.context_hints, writer.uint32(90).fork(), _depth + 1).ldelim();
                    if (message.budget != null && $Object.hasOwnProperty.call(message, "budget"))
                        $root.svc.agent.v1.Budget.encode(message.budget, writer.uint32(98).fork(), _depth + 1).ldelim();
                    if (message.tenant_id != null && $Object.hasOwnProperty.call(message, "tenant_id") && message.tenant_id !== "")
                        writer.uint32(106).string(message.tenant_id);
                    if (message.principal_id != null && $Object.hasOwnProperty.call(message, "principal_id") && message.principal_id !== "")
                        writer.uint32(114).string(message.principal_id);
                    if (message.labels != null && $Object.hasOwnProperty.call(message, "labels"))
                        for (var keys = $Object.keys(message.labels), i = 0; i < keys.length; ++i)
                            writer.uint32(122).fork().uint32(10).string(keys[i]).uint32(18).string(message.labels[keys[i]]).ldelim();
                    if (message.meta != null && $Object.hasOwnProperty.call(message, "meta"))
                        $root.svc.agent.v1.JobMetadata.encode(message.meta, writer.uint32(130).fork(), _depth + 1).ldelim();
                    if (message.compensation != null && $Object.hasOwnProperty.call(message, "compensation"))
                        $root.svc.agent.v1.Compensation.encode(message.compensation, writer.uint32(138).fork(), _depth + 1).ldelim();
                    if (message.identity != null && $Object.hasOwnProperty.call(message, "identity"))
                        $root.svc.agent.v1.IdentityBinding.encode(message.identity, writer.uint32(146).fork(), _depth + 1).ldelim();
                    if (message.dispatch != null && $Object.hasOwnProperty.call(message, "dispatch"))
                        $root.svc.agent.v1.DispatchIdentity.encode(message.dispatch, writer.uint32(154).fork(), _depth + 1).ldelim();
                    if (message.context_ref != null && $Object.hasOwnProperty.call(message, "context_ref"))
                        $root.svc.agent.v1.ResourceRef.encode(message.context_ref, writer.uint32(162).fork(), _depth + 1).ldelim();
                    if (message.inline_input != null && $Object.hasOwnProperty.call(message, "inline_input") && message.inline_input.length)
                        writer.uint32(8002).bytes(message.inline_input);
                    if (message.result_ticket != null && $Object.hasOwnProperty.call(message, "result_ticket") && message.result_ticket.length)
                        writer.uint32(8010).bytes(message.result_ticket);
                    if (message.grant != null && $Object.hasOwnProperty.call(message, "grant") && message.grant.length)
                        writer.uint32(8082).bytes(message.grant);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                JobRequest.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, key, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.JobRequest();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.job_id = value;
                                else
                                    delete message.job_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.topic = value;
                                else
                                    delete message.topic;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.priority = value;
                                else
                                    delete message.priority;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.context_ptr = value;
                                else
                                    delete message.context_ptr;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.adapter_id = value;
                                else
                                    delete message.adapter_id;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if (message.env === $util.emptyObject)
                                    message.env = {};
                                var end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = "";
                                while (reader.pos < end2) {
                                    var tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 2)
                                            break;
                                        value = reader.stringVerify();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.env, key);
                                message.env[key] = value;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.parent_job_id = value;
                                else
                                    delete message.parent_job_id;
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.workflow_id = value;
                                else
                                    delete message.workflow_id;
                                continue;
                            }
                        case 9: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.step_index = value;
                                else
                                    delete message.step_index;
                                continue;
                            }
                        case 10: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.memory_id = value;
                                else
                                    delete message.memory_id;
                                continue;
                            }
                        case 11: {
                                if (wireType !== 2)
                                    break;
                                message.context_hints = $root.svc.agent.v1.ContextHints.decode(reader, reader.size(), $undefined, _depth + 1, message.context_hints);
                                continue;
                            }
                        case 12: {
                                if (wireType !== 2)
                                    break;
                                message.budget = $root.svc.agent.v1.Budget.decode(reader, reader.size(), $undefined, _depth + 1, message.budget);
                                continue;
                            }
                        case 13: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.tenant_id = value;
                                else
                                    delete message.tenant_id;
                                continue;
                            }
                        case 14: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.principal_id = value;
                                else
                                    delete message.principal_id;
                                continue;
                            }
                        case 15: {
                                if (wireType !== 2)
                                    break;
                                if (message.labels === $util.emptyObject)
                                    message.labels = {};
                                var end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = "";
                                while (reader.pos < end2) {
                                    var tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 2)
                                            break;
                                        value = reader.stringVerify();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.labels, key);
                                message.labels[key] = value;
                                continue;
                            }
                        case 16: {
                                if (wireType !== 2)
                                    break;
                                message.meta = $root.svc.agent.v1.JobMetadata.decode(reader, reader.size(), $undefined, _depth + 1, message.meta);
                                continue;
                            }
                        case 17: {
                                if (wireType !== 2)
                                    break;
                                message.compensation = $root.svc.agent.v1.Compensation.decode(reader, reader.size(), $undefined, _depth + 1, message.compensation);
                                continue;
                            }
                        case 18: {
                                if (wireType !== 2)
                                    break;
                                message.identity = $root.svc.agent.v1.IdentityBinding.decode(reader, reader.size(), $undefined, _depth + 1, message.identity);
                                continue;
                            }
                        case 19: {
                                if (wireType !== 2)
                                    break;
                                message.dispatch = $root.svc.agent.v1.DispatchIdentity.decode(reader, reader.size(), $undefined, _depth + 1, message.dispatch);
                                continue;
                            }
                        case 20: {
                                if (wireType !== 2)
                                    break;
                                message.context_ref = $root.svc.agent.v1.ResourceRef.decode(reader, reader.size(), $undefined, _depth + 1, message.context_ref);
                                continue;
                            }
                        case 1000: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.inline_input = value;
                                else
                                    delete message.inline_input;
                                continue;
                            }
                        case 1001: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.result_ticket = value;
                                else
                                    delete message.result_ticket;
                                continue;
                            }
                        case 1010: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.grant = value;
                                else
                                    delete message.grant;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return JobRequest;
            })();

            v1.ContextHints = (function() {

                var ContextHints = function (properties) {
                    this.tags = [];
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                ContextHints.prototype.max_input_tokens = 0;
                ContextHints.prototype.allow_summarization = false;
                ContextHints.prototype.allow_retrieval = false;
                ContextHints.prototype.tags = $util.emptyArray;

                ContextHints.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.max_input_tokens != null && $Object.hasOwnProperty.call(message, "max_input_tokens") && message.max_input_tokens !== 0)
                        writer.uint32(8).int32(message.max_input_tokens);
                    if (message.allow_summarization != null && $Object.hasOwnProperty.call(message, "allow_summarization") && message.allow_summarization !== false)
                        writer.uint32(16).bool(message.allow_summarization);
                    if (message.allow_retrieval != null && $Object.hasOwnProperty.call(message, "allow_retrieval") && message.allow_retrieval !== false)
                        writer.uint32(24).bool(message.allow_retrieval);
                    if (message.tags != null && message.tags.length)
                        for (var i = 0; i < message.tags.length; ++i)
                            writer.uint32(34).string(message.tags[i]);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                ContextHints.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.ContextHints();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.max_input_tokens = value;
                                else
                                    delete message.max_input_tokens;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.allow_summarization = value;
                                else
                                    delete message.allow_summarization;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.allow_retrieval = value;
                                else
                                    delete message.allow_retrieval;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.tags && message.tags.length))
                                    message.tags = [];
                                message.tags.push(reader.stringVerify());
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return ContextHints;
            })();

            v1.Budget = (function() {

                var Budget = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Budget.prototype.max_input_tokens = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
                Budget.prototype.max_output_tokens = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
                Budget.prototype.max_total_tokens = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
                Budget.prototype.deadline_ms = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

                Budget.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.max_input_tokens != null && $Object.hasOwnProperty.call(message, "max_input_tokens") && (typeof message.max_input_tokens === "object" ? message.max_input_tokens.low || message.max_input_tokens.high : message.max_input_tokens !== 0))
                        writer.uint32(8).int64(message.max_input_tokens);
                    if (message.max_output_tokens != null && $Object.hasOwnProperty.call(message, "max_output_tokens") && (typeof message.max_output_tokens === "object" ? message.max_output_tokens.low || message.max_output_tokens.high : message.max_output_tokens !== 0))
                        writer.uint32(16).int64(message.max_output_tokens);
                    if (message.max_total_tokens != null && $Object.hasOwnProperty.call(message, "max_total_tokens") && (typeof message.max_total_tokens === "object" ? message.max_total_tokens.low || message.max_total_tokens.high : message.max_total_tokens !== 0))
                        writer.uint32(24).int64(message.max_total_tokens);
                    if (message.deadline_ms != null && $Object.hasOwnProperty.call(message, "deadline_ms") && (typeof message.deadline_ms === "object" ? message.deadline_ms.low || message.deadline_ms.high : message.deadline_ms !== 0))
                        writer.uint32(32).int64(message.deadline_ms);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Budget.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.Budget();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                    message.max_input_tokens = value;
                                else
                                    delete message.max_input_tokens;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                    message.max_output_tokens = value;
                                else
                                    delete message.max_output_tokens;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                    message.max_total_tokens = value;
                                else
                                    delete message.max_total_tokens;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                    message.deadline_ms = value;
                                else
                                    delete message.deadline_ms;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return Budget;
            })();

            v1.JobMetadata = (function() {

                var JobMetadata = function (properties) {
                    this.risk_tags = [];
                    this.requires = [];
                    this.labels = {};
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                JobMetadata.prototype.tenant_id = "";
                JobMetadata.prototype.actor_id = "";
                JobMetadata.prototype.actor_type = 0;
                JobMetadata.prototype.idempotency_key = "";
                JobMetadata.prototype.capability = "";
                JobMetadata.prototype.risk_tags = $util.emptyArray;
                JobMetadata.prototype.requires = $util.emptyArray;
                JobMetadata.prototype.pack_id = "";
                JobMetadata.prototype.labels = $util.emptyObject;

                JobMetadata.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.tenant_id != null && $Object.hasOwnProperty.call(message, "tenant_id") && message.tenant_id !== "")
                        writer.uint32(10).string(message.tenant_id);
                    if (message.actor_id != null && $Object.hasOwnProperty.call(message, "actor_id") && message.actor_id !== "")
                        writer.uint32(18).string(message.actor_id);
                    if (message.actor_type != null && $Object.hasOwnProperty.call(message, "actor_type") && message.actor_type !== 0)
                        writer.uint32(24).int32(message.actor_type);
                    if (message.idempotency_key != null && $Object.hasOwnProperty.call(message, "idempotency_key") && message.idempotency_key !== "")
                        writer.uint32(34).string(message.idempotency_key);
                    if (message.capability != null && $Object.hasOwnProperty.call(message, "capability") && message.capability !== "")
                        writer.uint32(42).string(message.capability);
                    if (message.risk_tags != null && message.risk_tags.length)
                        for (var i = 0; i < message.risk_tags.length; ++i)
                            writer.uint32(50).string(message.risk_tags[i]);
                    if (message.requires != null && message.requires.length)
                        for (var i = 0; i < message.requires.length; ++i)
                            writer.uint32(58).string(message.requires[i]);
                    if (message.pack_id != null && $Object.hasOwnProperty.call(message, "pack_id") && message.pack_id !== "")
                        writer.uint32(66).string(message.pack_id);
                    if (message.labels != null && $Object.hasOwnProperty.call(message, "labels"))
                        for (var keys = $Object.keys(message.labels), i = 0; i < keys.length; ++i)
                            writer.uint32(74).fork().uint32(10).string(keys[i]).uint32(18).string(message.labels[keys[i]]).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                JobMetadata.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, key, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.JobMetadata();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.tenant_id = value;
                                else
                                    delete message.tenant_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.actor_id = value;
                                else
                                    delete message.actor_id;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.actor_type = value;
                                else
                                    delete message.actor_type;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.idempotency_key = value;
                                else
                                    delete message.idempotency_key;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.capability = value;
                                else
                                    delete message.capability;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.risk_tags && message.risk_tags.length))
                                    message.risk_tags = [];
                                message.risk_tags.push(reader.stringVerify());
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.requires && message.requires.length))
                                    message.requires = [];
                                message.requires.push(reader.stringVerify());
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.pack_id = value;
                                else
                                    delete message.pack_id;
                                continue;
                            }
                        case 9: {
                                if (wireType !== 2)
                                    break;
                                if (message.labels === $util.emptyObject)
                                    message.labels = {};
                                var end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = "";
                                while (reader.pos < end2) {
                                    var tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 2)
                                            break;
                                        value = reader.stringVerify();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.labels, key);
                                message.labels[key] = value;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return JobMetadata;
            })();

            v1.Compensation = (function() {

                var Compensation = function (properties) {
                    this.env = {};
                    this.labels = {};
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Compensation.prototype.topic = "";
                Compensation.prototype.context_ptr = "";
                Compensation.prototype.priority = 0;
                Compensation.prototype.adapter_id = "";
                Compensation.prototype.env = $util.emptyObject;
                Compensation.prototype.memory_id = "";
                Compensation.prototype.context_hints = null;
                Compensation.prototype.budget = null;
                Compensation.prototype.tenant_id = "";
                Compensation.prototype.principal_id = "";
                Compensation.prototype.labels = $util.emptyObject;
                Compensation.prototype.meta = null;
                Compensation.prototype.identity = null;
                Compensation.prototype.dispatch = null;
                Compensation.prototype.context_ref = null;

                Compensation.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.topic != null && $Object.hasOwnProperty.call(message, "topic") && message.topic !== "")
                        writer.uint32(10).string(message.topic);
                    if (message.context_ptr != null && $Object.hasOwnProperty.call(message, "context_ptr") && message.context_ptr !== "")
                        writer.uint32(18).string(message.context_ptr);
                    if (message.priority != null && $Object.hasOwnProperty.call(message, "priority") && message.priority !== 0)
                        writer.uint32(24).int32(message.priority);
                    if (message.adapter_id != null && $Object.hasOwnProperty.call(message, "adapter_id") && message.adapter_id !== "")
                        writer.uint32(34).string(message.adapter_id);
                    if (message.env != null && $Object.hasOwnProperty.call(message, "env"))
                        for (var keys = $Object.keys(message.env), i = 0; i < keys.length; ++i)
                            writer.uint32(42).fork().uint32(10).string(keys[i]).uint32(18).string(message.env[keys[i]]).ldelim();
                    if (message.memory_id != null && $Object.hasOwnProperty.call(message, "memory_id") && message.memory_id !== "")
                        writer.uint32(50).string(message.memory_id);
                    if (message.context_hints != null && $Object.hasOwnProperty.call(message, "context_hints"))
                        $root.svc.agent.v1.ContextHints.encode(message.context_hints, writer.uint32(58).fork(), _depth + 1).ldelim();
                    if (message.budget != null && $Object.hasOwnProperty.call(message, "budget"))
                        $root.svc.agent.v1.Budget.encode(message.budget, writer.uint32(66).fork(), _depth + 1).ldelim();
                    if (message.tenant_id != null && $Object.hasOwnProperty.call(message, "tenant_id") && message.tenant_id !== "")
                        writer.uint32(74).string(message.tenant_id);
                    if (message.principal_id != null && $Object.hasOwnProperty.call(message, "principal_id") && message.principal_id !== "")
                        writer.uint32(82).string(message.principal_id);
                    if (message.labels != null && $Object.hasOwnProperty.call(message, "labels"))
                        for (var keys = $Object.keys(message.labels), i = 0; i < keys.length; ++i)
                            writer.uint32(90).fork().uint32(10).string(keys[i]).uint32(18).string(message.labels[keys[i]]).ldelim();
                    if (message.meta != null && $Object.hasOwnProperty.call(message, "meta"))
                        $root.svc.agent.v1.JobMetadata.encode(message.meta, writer.uint32(98).fork(), _depth + 1).ldelim();
                    if (message.identity != null && $Object.hasOwnProperty.call(message, "identity"))
                        $root.svc.agent.v1.IdentityBinding.encode(message.identity, writer.uint32(106).fork(), _depth + 1).ldelim();
                    if (message.dispatch != null && $Object.hasOwnProperty.call(message, "dispatch"))
                        $root.svc.agent.v1.DispatchIdentity.encode(message.dispatch, writer.uint32(114).fork(), _depth + 1).ldelim();
                    if (message.context_ref != null && $Object.hasOwnProperty.call(message, "context_ref"))
                        $root.svc.agent.v1.ResourceRef.encode(message.context_ref, writer.uint32(122).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Compensation.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, key, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.Compensation();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.topic = value;
                                else
                                    delete message.topic;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.context_ptr = value;
                                else
                                    delete message.context_ptr;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.priority = value;
                                else
                                    delete message.priority;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.adapter_id = value;
                                else
                                    delete message.adapter_id;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                if (message.env === $util.emptyObject)
                                    message.env = {};
                                var end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = "";
                                while (reader.pos < end2) {
                                    var tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 2)
                                            break;
                                        value = reader.stringVerify();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.env, key);
                                message.env[key] = value;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.memory_id = value;
                                else
                                    delete message.memory_id;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                message.context_hints = $root.svc.agent.v1.ContextHints.decode(reader, reader.size(), $undefined, _depth + 1, message.context_hints);
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                message.budget = $root.svc.agent.v1.Budget.decode(reader, reader.size(), $undefined, _depth + 1, message.budget);
                                continue;
                            }
                        case 9: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.tenant_id = value;
                                else
                                    delete message.tenant_id;
                                continue;
                            }
                        case 10: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.principal_id = value;
                                else
                                    delete message.principal_id;
                                continue;
                            }
                        case 11: {
                                if (wireType !== 2)
                                    break;
                                if (message.labels === $util.emptyObject)
                                    message.labels = {};
                                var end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = "";
                                while (reader.pos < end2) {
                                    var tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 2)
                                            break;
                                        value = reader.stringVerify();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.labels, key);
                                message.labels[key] = value;
                                continue;
                            }
                        case 12: {
                                if (wireType !== 2)
                                    break;
                                message.meta = $root.svc.agent.v1.JobMetadata.decode(reader, reader.size(), $undefined, _depth + 1, message.meta);
                                continue;
                            }
                        case 13: {
                                if (wireType !== 2)
                                    break;
                                message.identity = $root.svc.agent.v1.IdentityBinding.decode(reader, reader.size(), $undefined, _depth + 1, message.identity);
                                continue;
                            }
                        case 14: {
                                if (wireType !== 2)
                                    break;
                                message.dispatch = $root.svc.agent.v1.DispatchIdentity.decode(reader, reader.size(), $undefined, _depth + 1, message.dispatch);
                                continue;
                            }
                        case 15: {
                                if (wireType !== 2)
                                    break;
                                message.context_ref = $root.svc.agent.v1.ResourceRef.decode(reader, reader.size(), $undefined, _depth + 1, message.context_ref);
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return Compensation;
            })();

            v1.JobResult = (function() {

                var JobResult = function (properties) {
                    this.artifact_ptrs = [];
                    this.artifact_refs = [];
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                JobResult.prototype.job_id = "";
                JobResult.prototype.status = 0;
                JobResult.prototype.result_ptr = "";
                JobResult.prototype.worker_id = "";
                JobResult.prototype.execution_ms = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
                JobResult.prototype.error_code = "";
                JobResult.prototype.error_message = "";
                JobResult.prototype.artifact_ptrs = $util.emptyArray;
                JobResult.prototype.error_code_enum = 0;
                JobResult.prototype.dispatch = null;
                JobResult.prototype.identity = null;
                JobResult.prototype.result_ref = null;
                JobResult.prototype.artifact_refs = $util.emptyArray;
                JobResult.prototype.cost_usd = null;
                JobResult.prototype.inline_result = $util.newBuffer([]);
                JobResult.prototype.result_ticket = $util.newBuffer([]);

                var $oneOfFields;

                // Virtual OneOf for proto3 optional field
                $Object.defineProperty(JobResult.prototype, "_cost_usd", {
                    get: $util.oneOfGetter($oneOfFields = ["cost_usd"]),
                    set: $util.oneOfSetter($oneOfFields)
                });

                JobResult.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.job_id != null && $Object.hasOwnProperty.call(message, "job_id") && message.job_id !== "")
                        writer.uint32(10).string(message.job_id);
                    if (message.status != null && $Object.hasOwnProperty.call(message, "status") && message.status !== 0)
                        writer.uint32(16).int32(message.status);
                    if (message.result_ptr != null && $Object.hasOwnProperty.call(message, "result_ptr") && message.result_ptr !== "")
                        writer.uint32(26).string(message.result_ptr);
                    if (message.worker_id != null && $Object.hasOwnProperty.call(message, "worker_id") && message.worker_id !== "")
                        writer.uint32(34).string(message.worker_id);
                    if (message.execution_ms != null && $Object.hasOwnProperty.call(message, "execution_ms") && (typeof message.execution_ms === "object" ? message.execution_ms.low || message.execution_ms.high : message.execution_ms !== 0))
                        writer.uint32(40).int64(message.execution_ms);
                    if (message.error_code != null && $Object.hasOwnProperty.call(message, "error_code") && message.error_code !== "")
                        writer.uint32(50).string(message.error_code);
                    if (message.error_message != null && $Object.hasOwnProperty.call(message, "error_message") && message.error_message !== "")
                        writer.uint32(58).string(message.error_message);
                    if (message.artifact_ptrs != null && message.artifact_ptrs.length)
                        for (var i = 0; i < message.artifact_ptrs.length; ++i)
                            writer.uint32(66).string(message.artifact_ptrs[i]);
                    if (message.error_code_enum != null && $Object.hasOwnProperty.call(message, "error_code_enum") && message.error_code_enum !== 0)
                        writer.uint32(72).int32(message.error_code_enum);
                    if (message.dispatch != null && $Object.hasOwnProperty.call(message, "dispatch"))
                        $root.svc.agent.v1.DispatchIdentity.encode(message.dispatch, writer.uint32(82).fork(), _depth + 1).ldelim();
                    if (message.identity != null && $Object.hasOwnProperty.call(message, "identity"))
                        $root.svc.agent.v1.IdentityBinding.encode(message.identity, writer.uint32(90).fork(), _depth + 1).ldelim();
                    if (message.result_ref != null && $Object.hasOwnProperty.call(message, "result_ref"))
                        $root.svc.agent.v1.ResourceRef.encode(message.result_ref, writer.uint32(98).fork(), _depth + 1).ldelim();
                    if (message.artifact_refs != null && message.artifact_refs.length)
                        for (var i = 0; i < message.artifact_refs.length; ++i)
                            $root.svc.agent.v1.ResourceRef.encode(message.artifact_refs[i], writer.uint32(106).fork(), _depth + 1).ldelim();
                    if (message.cost_usd != null && $Object.hasOwnProperty.call(message, "cost_usd"))
                        writer.uint32(8001).double(message.cost_usd);
                    if (message.inline_result != null && $Object.hasOwnProperty.call(message, "inline_result") && message.inline_result.length)
                        writer.uint32(8010).bytes(message.inline_result);
                    if (message.result_ticket != null && $Object.hasOwnProperty.call(message, "result_ticket") && message.result_ticket.length)
                        writer.uint32(8018).bytes(message.result_ticket);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                JobResult.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.JobResult();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.job_id = value;
                                else
                                    delete message.job_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.status = value;
                                else
                                    delete message.status;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.result_ptr = value;
                                else
                                    delete message.result_ptr;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.worker_id = value;
                                else
                                    delete message.worker_id;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                    message.execution_ms = value;
                                else
                                    delete message.execution_ms;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.error_code = value;
                                else
                                    delete message.error_code;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.error_message = value;
                                else
                                    delete message.error_message;
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.artifact_ptrs && message.artifact_ptrs.length))
                                    message.artifact_ptrs = [];
                                message.artifact_ptrs.push(reader.stringVerify());
                                continue;
                            }
                        case 9: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.error_code_enum = value;
                                else
                                    delete message.error_code_enum;
                                continue;
                            }
                        case 10: {
                                if (wireType !== 2)
                                    break;
                                message.dispatch = $root.svc.agent.v1.DispatchIdentity.decode(reader, reader.size(), $undefined, _depth + 1, message.dispatch);
                                continue;
                            }
                        case 11: {
                                if (wireType !== 2)
                                    break;
                                message.identity = $root.svc.agent.v1.IdentityBinding.decode(reader, reader.size(), $undefined, _depth + 1, message.identity);
                                continue;
                            }
                        case 12: {
                                if (wireType !== 2)
                                    break;
                                message.result_ref = $root.svc.agent.v1.ResourceRef.decode(reader, reader.size(), $undefined, _depth + 1, message.result_ref);
                                continue;
                            }
                        case 13: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.artifact_refs && message.artifact_refs.length))
                                    message.artifact_refs = [];
                                message.artifact_refs.push($root.svc.agent.v1.ResourceRef.decode(reader, reader.size(), $undefined, _depth + 1));
                                continue;
                            }
                        case 1000: {
                                if (wireType !== 1)
                                    break;
                                message.cost_usd = reader.double();
                                message._cost_usd = "cost_usd";
                                continue;
                            }
                        case 1001: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.inline_result = value;
                                else
                                    delete message.inline_result;
                                continue;
                            }
                        case 1002: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.result_ticket = value;
                                else
                                    delete message.result_ticket;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return JobResult;
            })();

            v1.JobProgress = (function() {

                var JobProgress = function (properties) {
                    this.artifact_ptrs = [];
                    this.artifact_refs = [];
                    this.logs = [];
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                JobProgress.prototype.job_id = "";
                JobProgress.prototype.step_id = "";
                JobProgress.prototype.percent = 0;
                JobProgress.prototype.message = "";
                JobProgress.prototype.result_ptr = "";
                JobProgress.prototype.artifact_ptrs = $util.emptyArray;
                JobProgress.prototype.status = 0;
                JobProgress.prototype.dispatch = null;
                JobProgress.prototype.identity = null;
                JobProgress.prototype.result_ref = null;
                JobProgress.prototype.artifact_refs = $util.emptyArray;
                JobProgress.prototype.logs = $util.emptyArray;
                JobProgress.prototype.output = "";
                JobProgress.prototype.output_offset = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

                JobProgress.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.job_id != null && $Object.hasOwnProperty.call(message, "job_id") && message.job_id !== "")
                        writer.uint32(10).string(message.job_id);
                    if (message.step_id != null && $Object.hasOwnProperty.call(message, "step_id") && message.step_id !== "")
                        writer.uint32(18).string(message.step_id);
                    if (message.percent != null && $Object.hasOwnProperty.call(message, "percent") && message.percent !== 0)
                        writer.uint32(24).int32(message.percent);
                    if (message.message != null && $Object.hasOwnProperty.call(message, "message") && message.message !== "")
                        writer.uint32(34).string(message.message);
                    if (message.result_ptr != null && $Object.hasOwnProperty.call(message, "result_ptr") && message.result_ptr !== "")
                        writer.uint32(42).string(message.result_ptr);
                    if (message.artifact_ptrs != null && message.artifact_ptrs.length)
                        for (var i = 0; i < message.artifact_ptrs.length; ++i)
                            writer.uint32(50).string(message.artifact_ptrs[i]);
                    if (message.status != null && $Object.hasOwnProperty.call(message, "status") && message.status !== 0)
                        writer.uint32(56).int32(message.status);
                    if (message.dispatch != null && $Object.hasOwnProperty.call(message, "dispatch"))
                        $root.svc.agent.v1.DispatchIdentity.encode(message.dispatch, writer.uint32(66).fork(), _depth + 1).ldelim();
                    if (message.identity != null && $Object.hasOwnProperty.call(message, "identity"))
                        $root.svc.agent.v1.IdentityBinding.encode(message.identity, writer.uint32(74).fork(), _depth + 1).ldelim();
                    if (message.result_ref != null && $Object.hasOwnProperty.call(message, "result_ref"))
                        $root.svc.agent.v1.ResourceRef.encode(message.result_ref, writer.uint32(82).fork(), _depth + 1).ldelim();
                    if (message.artifact_refs != null && message.artifact_refs.length)
                        for (var i = 0; i < message.artifact_refs.length; ++i)
                            $root.svc.agent.v1.ResourceRef.encode(message.artifact_refs[i], writer.uint32(90).fork(), _depth + 1).ldelim();
                    if (message.logs != null && message.logs.length)
                        for (var i = 0; i < message.logs.length; ++i)
                            $root.svc.agent.v1.JobLogLine.encode(message.logs[i], writer.uint32(8002).fork(), _depth + 1).ldelim();
                    if (message.output != null && $Object.hasOwnProperty.call(message, "output") && message.output !== "")
                        writer.uint32(8010).string(message.output);
                    if (message.output_offset != null && $Object.hasOwnProperty.call(message, "output_offset") && (typeof message.output_offset === "object" ? message.output_offset.low || message.output_offset.high : message.output_offset !== 0))
                        writer.uint32(8016).uint64(message.output_offset);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                JobProgress.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.JobProgress();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.job_id = value;
                                else
                                    delete message.job_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.step_id = value;
                                else
                                    delete message.step_id;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.percent = value;
                                else
                                    delete message.percent;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.message = value;
                                else
                                    delete message.message;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.result_ptr = value;
                                else
                                    delete message.result_ptr;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.artifact_ptrs && message.artifact_ptrs.length))
                                    message.artifact_ptrs = [];
                                message.artifact_ptrs.push(reader.stringVerify());
                                continue;
                            }
                        case 7: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.status = value;
                                else
                                    delete message.status;
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                message.dispatch = $root.svc.agent.v1.DispatchIdentity.decode(reader, reader.size(), $undefined, _depth + 1, message.dispatch);
                                continue;
                            }
                        case 9: {
                                if (wireType !== 2)
                                    break;
                                message.identity = $root.svc.agent.v1.IdentityBinding.decode(reader, reader.size(), $undefined, _depth + 1, message.identity);
                                continue;
                            }
                        case 10: {
                                if (wireType !== 2)
                                    break;
                                message.result_ref = $root.svc.agent.v1.ResourceRef.decode(reader, reader.size(), $undefined, _depth + 1, message.result_ref);
                                continue;
                            }
                        case 11: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.artifact_refs && message.artifact_refs.length))
                                    message.artifact_refs = [];
                                message.artifact_refs.push($root.svc.agent.v1.ResourceRef.decode(reader, reader.size(), $undefined, _depth + 1));
                                continue;
                            }
                        case 1000: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.logs && message.logs.length))
                                    message.logs = [];
                                message.logs.push($root.svc.agent.v1.JobLogLine.decode(reader, reader.size(), $undefined, _depth + 1));
                                continue;
                            }
                        case 1001: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.output = value;
                                else
                                    delete message.output;
                                continue;
                            }
                        case 1002: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                    message.output_offset = value;
                                else
                                    delete message.output_offset;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return JobProgress;
            })();

            v1.JobLogLine = (function() {

                var JobLogLine = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                JobLogLine.prototype.level = "";
                JobLogLine.prototype.message = "";
                JobLogLine.prototype.at_ms = $util.Long ? $util.Long.fromBits(0,0,false) : 0;

                JobLogLine.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.level != null && $Object.hasOwnProperty.call(message, "level") && message.level !== "")
                        writer.uint32(10).string(message.level);
                    if (message.message != null && $Object.hasOwnProperty.call(message, "message") && message.message !== "")
                        writer.uint32(18).string(message.message);
                    if (message.at_ms != null && $Object.hasOwnProperty.call(message, "at_ms") && (typeof message.at_ms === "object" ? message.at_ms.low || message.at_ms.high : message.at_ms !== 0))
                        writer.uint32(24).int64(message.at_ms);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                JobLogLine.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.JobLogLine();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.level = value;
                                else
                                    delete message.level;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.message = value;
                                else
                                    delete message.message;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                    message.at_ms = value;
                                else
                                    delete message.at_ms;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return JobLogLine;
            })();

            v1.JobCancel = (function() {

                var JobCancel = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                JobCancel.prototype.job_id = "";
                JobCancel.prototype.reason = "";
                JobCancel.prototype.requested_by = "";
                JobCancel.prototype.dispatch = null;
                JobCancel.prototype.identity = null;
                JobCancel.prototype.grace_sec = 0;

                JobCancel.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.job_id != null && $Object.hasOwnProperty.call(message, "job_id") && message.job_id !== "")
                        writer.uint32(10).string(message.job_id);
                    if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                        writer.uint32(18).string(message.reason);
                    if (message.requested_by != null && $Object.hasOwnProperty.call(message, "requested_by") && message.requested_by !== "")
                        writer.uint32(26).string(message.requested_by);
                    if (message.dispatch != null && $Object.hasOwnProperty.call(message, "dispatch"))
                        $root.svc.agent.v1.DispatchIdentity.encode(message.dispatch, writer.uint32(34).fork(), _depth + 1).ldelim();
                    if (message.identity != null && $Object.hasOwnProperty.call(message, "identity"))
                        $root.svc.agent.v1.IdentityBinding.encode(message.identity, writer.uint32(42).fork(), _depth + 1).ldelim();
                    if (message.grace_sec != null && $Object.hasOwnProperty.call(message, "grace_sec") && message.grace_sec !== 0)
                        writer.uint32(8000).int32(message.grace_sec);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                JobCancel.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.JobCancel();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.job_id = value;
                                else
                                    delete message.job_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.reason = value;
                                else
                                    delete message.reason;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.requested_by = value;
                                else
                                    delete message.requested_by;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                message.dispatch = $root.svc.agent.v1.DispatchIdentity.decode(reader, reader.size(), $undefined, _depth + 1, message.dispatch);
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                message.identity = $root.svc.agent.v1.IdentityBinding.decode(reader, reader.size(), $undefined, _depth + 1, message.identity);
                                continue;
                            }
                        case 1000: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.grace_sec = value;
                                else
                                    delete message.grace_sec;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return JobCancel;
            })();

            v1.Heartbeat = (function() {

                var Heartbeat = function (properties) {
                    this.capabilities = [];
                    this.labels = {};
                    this.running_jobs = [];
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Heartbeat.prototype.worker_id = "";
                Heartbeat.prototype.region = "";
                Heartbeat.prototype.type = "";
                Heartbeat.prototype.cpu_load = 0;
                Heartbeat.prototype.gpu_utilization = 0;
                Heartbeat.prototype.active_jobs = 0;
                Heartbeat.prototype.capabilities = $util.emptyArray;
                Heartbeat.prototype.pool = "";
                Heartbeat.prototype.max_parallel_jobs = 0;
                Heartbeat.prototype.labels = $util.emptyObject;
                Heartbeat.prototype.memory_load = 0;
                Heartbeat.prototype.progress_pct = 0;
                Heartbeat.prototype.last_memo = "";
                Heartbeat.prototype.auth_token = "";
                Heartbeat.prototype.agent_name = "";
                Heartbeat.prototype.running_jobs = $util.emptyArray;

                Heartbeat.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.worker_id != null && $Object.hasOwnProperty.call(message, "worker_id") && message.worker_id !== "")
                        writer.uint32(10).string(message.worker_id);
                    if (message.region != null && $Object.hasOwnProperty.call(message, "region") && message.region !== "")
                        writer.uint32(18).string(message.region);
                    if (message.type != null && $Object.hasOwnProperty.call(message, "type") && message.type !== "")
                        writer.uint32(26).string(message.type);
                    if (message.cpu_load != null && $Object.hasOwnProperty.call(message, "cpu_load") && !$Object.is(message.cpu_load, 0))
                        writer.uint32(37).float(message.cpu_load);
                    if (message.gpu_utilization != null && $Object.hasOwnProperty.call(message, "gpu_utilization") && !$Object.is(message.gpu_utilization, 0))
                        writer.uint32(45).float(message.gpu_utilization);
                    if (message.active_jobs != null && $Object.hasOwnProperty.call(message, "active_jobs") && message.active_jobs !== 0)
                        writer.uint32(48).int32(message.active_jobs);
                    if (message.capabilities != null && message.capabilities.length)
                        for (var i = 0; i < message.capabilities.length; ++i)
                            writer.uint32(58).string(message.capabilities[i]);
                    if (message.pool != null && $Object.hasOwnProperty.call(message, "pool") && message.pool !== "")
                        writer.uint32(90).string(message.pool);
                    if (message.max_parallel_jobs != null && $Object.hasOwnProperty.call(message, "max_parallel_jobs") && message.max_parallel_jobs !== 0)
                        writer.uint32(96).int32(message.max_parallel_jobs);
                    if (message.labels != null && $Object.hasOwnProperty.call(message, "labels"))
                        for (var keys = $Object.keys(message.labels), i = 0; i < keys.length; ++i)
                            writer.uint32(106).fork().uint32(10).string(keys[i]).uint32(18).string(message.labels[keys[i]]).ldelim();
                    if (message.memory_load != null && $Object.hasOwnProperty.call(message, "memory_load") && !$Object.is(message.memory_load, 0))
                        writer.uint32(117).float(message.memory_load);
                    if (message.progress_pct != null && $Object.hasOwnProperty.call(message, "progress_pct") && message.progress_pct !== 0)
                        writer.uint32(120).int32(message.progress_pct);
                    if (message.last_memo != null && $Object.hasOwnProperty.call(message, "last_memo") && message.last_memo !== "")
                        writer.uint32(130).string(message.last_memo);
                    if (message.auth_token != null && $Object.hasOwnProperty.call(message, "auth_token") && message.auth_token !== "")
                        writer.uint32(146).string(message.auth_token);
                    if (message.agent_name != null && $Object.hasOwnProperty.call(message, "agent_name") && message.agent_name !== "")
                        writer.uint32(154).string(message.agent_name);
                    if (message.running_jobs != null && message.running_jobs.length)
                        for (var i = 0; i < message.running_jobs.length; ++i)
                            writer.uint32(8002).string(message.running_jobs[i]);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Heartbeat.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, key, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.Heartbeat();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.worker_id = value;
                                else
                                    delete message.worker_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.region = value;
                                else
                                    delete message.region;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.type = value;
                                else
                                    delete message.type;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 5)
                                    break;
                                if (!$Object.is(value = reader.float(), 0))
                                    message.cpu_load = value;
                                else
                                    delete message.cpu_load;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 5)
                                    break;
                                if (!$Object.is(value = reader.float(), 0))
                                    message.gpu_utilization = value;
                                else
                                    delete message.gpu_utilization;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.active_jobs = value;
                                else
                                    delete message.active_jobs;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.capabilities && message.capabilities.length))
                                    message.capabilities = [];
                                message.capabilities.push(reader.stringVerify());
                                continue;
                            }
                        case 11: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.pool = value;
                                else
                                    delete message.pool;
                                continue;
                            }
                        case 12: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.max_parallel_jobs = value;
                                else
                                    delete message.max_parallel_jobs;
                                continue;
                            }
                        case 13: {
                                if (wireType !== 2)
                                    break;
                                if (message.labels === $util.emptyObject)
                                    message.labels = {};
                                var end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = "";
                                while (reader.pos < end2) {
                                    var tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 2)
                                            break;
                                        value = reader.stringVerify();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.labels, key);
                                message.labels[key] = value;
                                continue;
                            }
                        case 14: {
                                if (wireType !== 5)
                                    break;
                                if (!$Object.is(value = reader.float(), 0))
                                    message.memory_load = value;
                                else
                                    delete message.memory_load;
                                continue;
                            }
                        case 15: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.progress_pct = value;
                                else
                                    delete message.progress_pct;
                                continue;
                            }
                        case 16: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.last_memo = value;
                                else
                                    delete message.last_memo;
                                continue;
                            }
                        case 18: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.auth_token = value;
                                else
                                    delete message.auth_token;
                                continue;
                            }
                        case 19: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.agent_name = value;
                                else
                                    delete message.agent_name;
                                continue;
                            }
                        case 1000: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.running_jobs && message.running_jobs.length))
                                    message.running_jobs = [];
                                message.running_jobs.push(reader.stringVerify());
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return Heartbeat;
            })();

            v1.Handshake = (function() {

                var Handshake = function (properties) {
                    this.supported_versions = [];
                    this.capabilities = {};
                    this.ready_topics = [];
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                Handshake.prototype.component_id = "";
                Handshake.prototype.role = 0;
                Handshake.prototype.supported_versions = $util.emptyArray;
                Handshake.prototype.capabilities = $util.emptyObject;
                Handshake.prototype.sdk_version = "";
                Handshake.prototype.ready_topics = $util.emptyArray;
                Handshake.prototype.agent_name = "";

                Handshake.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.component_id != null && $Object.hasOwnProperty.call(message, "component_id") && message.component_id !== "")
                        writer.uint32(10).string(message.component_id);
                    if (message.role != null && $Object.hasOwnProperty.call(message, "role") && message.role !== 0)
                        writer.uint32(16).int32(message.role);
                    if (message.supported_versions != null && message.supported_versions.length)
                        writer.uint32(26).int32s(message.supported_versions);
                    if (message.capabilities != null && $Object.hasOwnProperty.call(message, "capabilities"))
                        for (var keys = $Object.keys(message.capabilities), i = 0; i < keys.length; ++i)
                            writer.uint32(34).fork().uint32(10).string(keys[i]).uint32(16).bool(message.capabilities[keys[i]]).ldelim();
                    if (message.sdk_version != null && $Object.hasOwnProperty.call(message, "sdk_version") && message.sdk_version !== "")
                        writer.uint32(42).string(message.sdk_version);
                    if (message.ready_topics != null && message.ready_topics.length)
                        for (var i = 0; i < message.ready_topics.length; ++i)
                            writer.uint32(50).string(message.ready_topics[i]);
                    if (message.agent_name != null && $Object.hasOwnProperty.call(message, "agent_name") && message.agent_name !== "")
                        writer.uint32(58).string(message.agent_name);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                Handshake.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, key, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.Handshake();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.component_id = value;
                                else
                                    delete message.component_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.role = value;
                                else
                                    delete message.role;
                                continue;
                            }
                        case 3: {
                                if (wireType === 2) {
                                    if (!(message.supported_versions && message.supported_versions.length))
                                        message.supported_versions = [];
                                    reader.int32s(message.supported_versions);
                                    continue;
                                }
                                if (wireType !== 0)
                                    break;
                                if (!(message.supported_versions && message.supported_versions.length))
                                    message.supported_versions = [];
                                message.supported_versions.push(reader.int32());
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if (message.capabilities === $util.emptyObject)
                                    message.capabilities = {};
                                var end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = false;
                                while (reader.pos < end2) {
                                    var tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 0)
                                            break;
                                        value = reader.bool();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.capabilities, key);
                                message.capabilities[key] = value;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.sdk_version = value;
                                else
                                    delete message.sdk_version;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if (!(message.ready_topics && message.ready_topics.length))
                                    message.ready_topics = [];
                                message.ready_topics.push(reader.stringVerify());
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.agent_name = value;
                                else
                                    delete message.agent_name;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return Handshake;
            })();

            v1.SystemAlert = (function() {

                var SystemAlert = function (properties) {
                    this.details = {};
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                SystemAlert.prototype.level = "";
                SystemAlert.prototype.message = "";
                SystemAlert.prototype.component = "";
                SystemAlert.prototype.code = "";
                SystemAlert.prototype.severity = 0;
                SystemAlert.prototype.error_code_enum = 0;
                SystemAlert.prototype.source_component = "";
                SystemAlert.prototype.details = $util.emptyObject;
                SystemAlert.prototype.trace_id = "";

                SystemAlert.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.level != null && $Object.hasOwnProperty.call(message, "level") && message.level !== "")
                        writer.uint32(10).string(message.level);
                    if (message.message != null && $Object.hasOwnProperty.call(message, "message") && message.message !== "")
                        writer.uint32(18).string(message.message);
                    if (message.component != null && $Object.hasOwnProperty.call(message, "component") && message.component !== "")
                        writer.uint32(26).string(message.component);
                    if (message.code != null && $Object.hasOwnProperty.call(message, "code") && message.code !== "")
                        writer.uint32(34).string(message.code);
                    if (message.severity != null && $Object.hasOwnProperty.call(message, "severity") && message.severity !== 0)
                        writer.uint32(40).int32(message.severity);
                    if (message.error_code_enum != null && $Object.hasOwnProperty.call(message, "error_code_enum") && message.error_code_enum !== 0)
                        writer.uint32(48).int32(message.error_code_enum);
                    if (message.source_component != null && $Object.hasOwnProperty.call(message, "source_component") && message.source_component !== "")
                        writer.uint32(58).string(message.source_component);
                    if (message.details != null && $Object.hasOwnProperty.call(message, "details"))
                        for (var keys = $Object.keys(message.details), i = 0; i < keys.length; ++i)
                            writer.uint32(66).fork().uint32(10).string(keys[i]).uint32(18).string(message.details[keys[i]]).ldelim();
                    if (message.trace_id != null && $Object.hasOwnProperty.call(message, "trace_id") && message.trace_id !== "")
                        writer.uint32(74).string(message.trace_id);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                SystemAlert.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, key, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.SystemAlert();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.level = value;
                                else
                                    delete message.level;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.message = value;
                                else
                                    delete message.message;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.component = value;
                                else
                                    delete message.component;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.code = value;
                                else
                                    delete message.code;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.severity = value;
                                else
                                    delete message.severity;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.error_code_enum = value;
                                else
                                    delete message.error_code_enum;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.source_component = value;
                                else
                                    delete message.source_component;
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                if (message.details === $util.emptyObject)
                                    message.details = {};
                                var end2 = reader.size() + reader.pos;
                                if (end2 > reader.len)
                                    throw $RangeError("index out of range");
                                reader.len = end2;
                                key = "";
                                value = "";
                                while (reader.pos < end2) {
                                    var tag2 = reader.tag();
                                    wireType = tag2 & 7;
                                    switch (tag2 >>>= 3) {
                                    case 1:
                                        if (wireType !== 2)
                                            break;
                                        key = reader.stringVerify();
                                        continue;
                                    case 2:
                                        if (wireType !== 2)
                                            break;
                                        value = reader.stringVerify();
                                        continue;
                                    }
                                    reader.skipType(wireType, _depth, tag2);
                                }
                                if (reader.pos !== end2)
                                    throw $RangeError("index out of range");
                                reader.len = end;
                                if (key === "__proto__")
                                    $util.makeProp(message.details, key);
                                message.details[key] = value;
                                continue;
                            }
                        case 9: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.trace_id = value;
                                else
                                    delete message.trace_id;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return SystemAlert;
            })();

            v1.WorkerHandshakeChallengeRequest = (function() {

                var WorkerHandshakeChallengeRequest = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                WorkerHandshakeChallengeRequest.prototype.request_id = "";
                WorkerHandshakeChallengeRequest.prototype.trace_id = "";
                WorkerHandshakeChallengeRequest.prototype.worker_id = "";
                WorkerHandshakeChallengeRequest.prototype.proof_key_id = "";
                WorkerHandshakeChallengeRequest.prototype.proof_algorithm = 0;
                WorkerHandshakeChallengeRequest.prototype.audience = "";
                WorkerHandshakeChallengeRequest.prototype.purpose = 0;
                WorkerHandshakeChallengeRequest.prototype.client_nonce = $util.newBuffer([]);
                WorkerHandshakeChallengeRequest.prototype.protocol_version = 0;
                WorkerHandshakeChallengeRequest.prototype.sdk_version = "";

                WorkerHandshakeChallengeRequest.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.request_id != null && $Object.hasOwnProperty.call(message, "request_id") && message.request_id !== "")
                        writer.uint32(10).string(message.request_id);
                    if (message.trace_id != null && $Object.hasOwnProperty.call(message, "trace_id") && message.trace_id !== "")
                        writer.uint32(18).string(message.trace_id);
                    if (message.worker_id != null && $Object.hasOwnProperty.call(message, "worker_id") && message.worker_id !== "")
                        writer.uint32(26).string(message.worker_id);
                    if (message.proof_key_id != null && $Object.hasOwnProperty.call(message, "proof_key_id") && message.proof_key_id !== "")
                        writer.uint32(34).string(message.proof_key_id);
                    if (message.proof_algorithm != null && $Object.hasOwnProperty.call(message, "proof_algorithm") && message.proof_algorithm !== 0)
                        writer.uint32(40).int32(message.proof_algorithm);
                    if (message.audience != null && $Object.hasOwnProperty.call(message, "audience") && message.audience !== "")
                        writer.uint32(50).string(message.audience);
                    if (message.purpose != null && $Object.hasOwnProperty.call(message, "purpose") && message.purpose !== 0)
                        writer.uint32(56).int32(message.purpose);
                    if (message.client_nonce != null && $Object.hasOwnProperty.call(message, "client_nonce") && message.client_nonce.length)
                        writer.uint32(66).bytes(message.client_nonce);
                    if (message.protocol_version != null && $Object.hasOwnProperty.call(message, "protocol_version") && message.protocol_version !== 0)
                        writer.uint32(72).int32(message.protocol_version);
                    if (message.sdk_version != null && $Object.hasOwnProperty.call(message, "sdk_version") && message.sdk_version !== "")
                        writer.uint32(82).string(message.sdk_version);
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                WorkerHandshakeChallengeRequest.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.WorkerHandshakeChallengeRequest();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.request_id = value;
                                else
                                    delete message.request_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.trace_id = value;
                                else
                                    delete message.trace_id;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.worker_id = value;
                                else
                                    delete message.worker_id;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.proof_key_id = value;
                                else
                                    delete message.proof_key_id;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.proof_algorithm = value;
                                else
                                    delete message.proof_algorithm;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.audience = value;
                                else
                                    delete message.audience;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.purpose = value;
                                else
                                    delete message.purpose;
                                continue;
                            }
                        case 8: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.client_nonce = value;
                                else
                                    delete message.client_nonce;
                                continue;
                            }
                        case 9: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.protocol_version = value;
                                else
                                    delete message.protocol_version;
                                continue;
                            }
                        case 10: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.sdk_version = value;
                                else
                                    delete message.sdk_version;
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return WorkerHandshakeChallengeRequest;
            })();

            v1.WorkerHandshakeChallenge = (function() {

                var WorkerHandshakeChallenge = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                WorkerHandshakeChallenge.prototype.request_id = "";
                WorkerHandshakeChallenge.prototype.challenge_id = "";
                WorkerHandshakeChallenge.prototype.trace_id = "";
                WorkerHandshakeChallenge.prototype.worker_id = "";
                WorkerHandshakeChallenge.prototype.agent_id = "";
                WorkerHandshakeChallenge.prototype.tenant_id = "";
                WorkerHandshakeChallenge.prototype.proof_key_id = "";
                WorkerHandshakeChallenge.prototype.proof_algorithm = 0;
                WorkerHandshakeChallenge.prototype.server_key_id = "";
                WorkerHandshakeChallenge.prototype.audience = "";
                WorkerHandshakeChallenge.prototype.purpose = 0;
                WorkerHandshakeChallenge.prototype.client_nonce = $util.newBuffer([]);
                WorkerHandshakeChallenge.prototype.server_nonce = $util.newBuffer([]);
                WorkerHandshakeChallenge.prototype.protocol_version = 0;
                WorkerHandshakeChallenge.prototype.sdk_version = "";
                WorkerHandshakeChallenge.prototype.issued_at = null;
                WorkerHandshakeChallenge.prototype.expires_at = null;

                WorkerHandshakeChallenge.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.request_id != null && $Object.hasOwnProperty.call(message, "request_id") && message.request_id !== "")
                        writer.uint32(10).string(message.request_id);
                    if (message.challenge_id != null && $Object.hasOwnProperty.call(message, "challenge_id") && message.challenge_id !== "")
                        writer.uint32(18).string(message.challenge_id);
                    if (message.trace_id != null && $Object.hasOwnProperty.call(message, "trace_id") && message.trace_id !== "")
                        writer.uint32(26).string(message.trace_id);
                    if (message.worker_id != null && $Object.hasOwnProperty.call(message, "worker_id") && message.worker_id !== "")
                        writer.uint32(34).string(message.worker_id);
                    if (message.agent_id != null && $Object.hasOwnProperty.call(message, "agent_id") && message.agent_id !== "")
                        writer.uint32(42).string(message.agent_id);
                    if (message.tenant_id != null && $Object.hasOwnProperty.call(message, "tenant_id") && message.tenant_id !== "")
                        writer.uint32(50).string(message.tenant_id);
                    if (message.proof_key_id != null && $Object.hasOwnProperty.call(message, "proof_key_id") && message.proof_key_id !== "")
                        writer.uint32(58).string(message.proof_key_id);
                    if (message.proof_algorithm != null && $Object.hasOwnProperty.call(message, "proof_algorithm") && message.proof_algorithm !== 0)
                        writer.uint32(64).int32(message.proof_algorithm);
                    if (message.server_key_id != null && $Object.hasOwnProperty.call(message, "server_key_id") && message.server_key_id !== "")
                        writer.uint32(74).string(message.server_key_id);
                    if (message.audience != null && $Object.hasOwnProperty.call(message, "audience") && message.audience !== "")
                        writer.uint32(82).string(message.audience);
                    if (message.purpose != null && $Object.hasOwnProperty.call(message, "purpose") && message.purpose !== 0)
                        writer.uint32(88).int32(message.purpose);
                    if (message.client_nonce != null && $Object.hasOwnProperty.call(message, "client_nonce") && message.client_nonce.length)
                        writer.uint32(98).bytes(message.client_nonce);
                    if (message.server_nonce != null && $Object.hasOwnProperty.call(message, "server_nonce") && message.server_nonce.length)
                        writer.uint32(106).bytes(message.server_nonce);
                    if (message.protocol_version != null && $Object.hasOwnProperty.call(message, "protocol_version") && message.protocol_version !== 0)
                        writer.uint32(112).int32(message.protocol_version);
                    if (message.sdk_version != null && $Object.hasOwnProperty.call(message, "sdk_version") && message.sdk_version !== "")
                        writer.uint32(122).string(message.sdk_version);
                    if (message.issued_at != null && $Object.hasOwnProperty.call(message, "issued_at"))
                        $root.google.protobuf.Timestamp.encode(message.issued_at, writer.uint32(130).fork(), _depth + 1).ldelim();
                    if (message.expires_at != null && $Object.hasOwnProperty.call(message, "expires_at"))
                        $root.google.protobuf.Timestamp.encode(message.expires_at, writer.uint32(138).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                WorkerHandshakeChallenge.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.WorkerHandshakeChallenge();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.request_id = value;
                                else
                                    delete message.request_id;
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.challenge_id = value;
                                else
                                    delete message.challenge_id;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.trace_id = value;
                                else
                                    delete message.trace_id;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.worker_id = value;
                                else
                                    delete message.worker_id;
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.agent_id = value;
                                else
                                    delete message.agent_id;
                                continue;
                            }
                        case 6: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.tenant_id = value;
                                else
                                    delete message.tenant_id;
                                continue;
                            }
                        case 7: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.proof_key_id = value;
                                else
                                    delete message.proof_key_id;
                                continue;
                            }
                        case 8: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.proof_algorithm = value;
                                else
                                    delete message.proof_algorithm;
                                continue;
                            }
                        case 9: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.server_key_id = value;
                                else
                                    delete message.server_key_id;
                                continue;
                            }
                        case 10: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.audience = value;
                                else
                                    delete message.audience;
                                continue;
                            }
                        case 11: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.purpose = value;
                                else
                                    delete message.purpose;
                                continue;
                            }
                        case 12: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.client_nonce = value;
                                else
                                    delete message.client_nonce;
                                continue;
                            }
                        case 13: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.bytes()).length)
                                    message.server_nonce = value;
                                else
                                    delete message.server_nonce;
                                continue;
                            }
                        case 14: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.protocol_version = value;
                                else
                                    delete message.protocol_version;
                                continue;
                            }
                        case 15: {
                                if (wireType !== 2)
                                    break;
                                if ((value = reader.stringVerify()).length)
                                    message.sdk_version = value;
                                else
                                    delete message.sdk_version;
                                continue;
                            }
                        case 16: {
                                if (wireType !== 2)
                                    break;
                                message.issued_at = $root.google.protobuf.Timestamp.decode(reader, reader.size(), $undefined, _depth + 1, message.issued_at);
                                continue;
                            }
                        case 17: {
                                if (wireType !== 2)
                                    break;
                                message.expires_at = $root.google.protobuf.Timestamp.decode(reader, reader.size(), $undefined, _depth + 1, message.expires_at);
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return WorkerHandshakeChallenge;
            })();

            v1.WorkerHandshakeAuthenticate = (function() {

                var WorkerHandshakeAuthenticate = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                WorkerHandshakeAuthenticate.prototype.challenge = null;
                WorkerHandshakeAuthenticate.prototype.capability_handshake = null;

                WorkerHandshakeAuthenticate.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.challenge != null && $Object.hasOwnProperty.call(message, "challenge"))
                        $root.svc.agent.v1.WorkerHandshakeChallenge.encode(message.challenge, writer.uint32(10).fork(), _depth + 1).ldelim();
                    if (message.capability_handshake != null && $Object.hasOwnProperty.call(message, "capability_handshake"))
                        $root.svc.agent.v1.Handshake.encode(message.capability_handshake, writer.uint32(18).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                WorkerHandshakeAuthenticate.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.WorkerHandshakeAuthenticate();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                message.challenge = $root.svc.agent.v1.WorkerHandshakeChallenge.decode(reader, reader.size(), $undefined, _depth + 1, message.challenge);
                                continue;
                            }
                        case 2: {
                                if (wireType !== 2)
                                    break;
                                message.capability_handshake = $root.svc.agent.v1.Handshake.decode(reader, reader.size(), $undefined, _depth + 1, message.capability_handshake);
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return WorkerHandshakeAuthenticate;
            })();

            v1.WorkerHandshakeResult = (function() {

                var WorkerHandshakeResult = function (properties) {
                    if (properties)
                        for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                            if (properties[keys[i]] != null && keys[i] !== "__proto__")
                                this[keys[i]] = properties[keys[i]];
                };

                WorkerHandshakeResult.prototype.challenge = null;
                WorkerHandshakeResult.prototype.accepted = false;
                WorkerHandshakeResult.prototype.rejection_reason = 0;
                WorkerHandshakeResult.prototype.token_expires_at = null;
                WorkerHandshakeResult.prototype.issued_at = null;

                WorkerHandshakeResult.encode = function (message, writer, _depth) {
                    if (!writer)
                        writer = $Writer.create();
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $util.recursionLimit)
                        throw $Error("max depth exceeded");
                    if (message.challenge != null && $Object.hasOwnProperty.call(message, "challenge"))
                        $root.svc.agent.v1.WorkerHandshakeChallenge.encode(message.challenge, writer.uint32(10).fork(), _depth + 1).ldelim();
                    if (message.accepted != null && $Object.hasOwnProperty.call(message, "accepted") && message.accepted !== false)
                        writer.uint32(16).bool(message.accepted);
                    if (message.rejection_reason != null && $Object.hasOwnProperty.call(message, "rejection_reason") && message.rejection_reason !== 0)
                        writer.uint32(24).int32(message.rejection_reason);
                    if (message.token_expires_at != null && $Object.hasOwnProperty.call(message, "token_expires_at"))
                        $root.google.protobuf.Timestamp.encode(message.token_expires_at, writer.uint32(34).fork(), _depth + 1).ldelim();
                    if (message.issued_at != null && $Object.hasOwnProperty.call(message, "issued_at"))
                        $root.google.protobuf.Timestamp.encode(message.issued_at, writer.uint32(42).fork(), _depth + 1).ldelim();
                    if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                        for (var i = 0; i < message.$unknowns.length; ++i)
                            writer.raw(message.$unknowns[i]);
                    return writer;
                };

                WorkerHandshakeResult.decode = function (reader, length, _end, _depth, _target) {
                    if (!(reader instanceof $Reader))
                        reader = $Reader.create(reader);
                    if (_depth === $undefined)
                        _depth = 0;
                    if (_depth > $Reader.recursionLimit)
                        throw $Error("max depth exceeded");
                    var end, message, value;
                    if (length === $undefined)
                        end = reader.len;
                    else {
                        end = reader.pos + length;
                        if (end > reader.len)
                            throw $RangeError("index out of range");
                        length = reader.len;
                        reader.len = end;
                    }
                    message = _target || new $root.svc.agent.v1.WorkerHandshakeResult();
                    while (reader.pos < end) {
                        var start = reader.pos;
                        var tag = reader.tag();
                        if (tag === _end) {
                            _end = $undefined;
                            break;
                        }
                        var wireType = tag & 7;
                        switch (tag >>>= 3) {
                        case 1: {
                                if (wireType !== 2)
                                    break;
                                message.challenge = $root.svc.agent.v1.WorkerHandshakeChallenge.decode(reader, reader.size(), $undefined, _depth + 1, message.challenge);
                                continue;
                            }
                        case 2: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.bool())
                                    message.accepted = value;
                                else
                                    delete message.accepted;
                                continue;
                            }
                        case 3: {
                                if (wireType !== 0)
                                    break;
                                if (value = reader.int32())
                                    message.rejection_reason = value;
                                else
                                    delete message.rejection_reason;
                                continue;
                            }
                        case 4: {
                                if (wireType !== 2)
                                    break;
                                message.token_expires_at = $root.google.protobuf.Timestamp.decode(reader, reader.size(), $undefined, _depth + 1, message.token_expires_at);
                                continue;
                            }
                        case 5: {
                                if (wireType !== 2)
                                    break;
                                message.issued_at = $root.google.protobuf.Timestamp.decode(reader, reader.size(), $undefined, _depth + 1, message.issued_at);
                                continue;
                            }
                        }
                        reader.skipType(wireType, _depth, tag);
                        if (!reader.discardUnknown) {
                            $util.makeProp(message, "$unknowns", false);
                            (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                        }
                    }
                    if (length !== $undefined) {
                        if (reader.pos !== end)
                            throw $RangeError("index out of range");
                        reader.len = length;
                    }
                    if (_end !== $undefined)
                        throw $Error("missing end group");
                    return message;
                };

                return WorkerHandshakeResult;
            })();

            return v1;
        })();

        return agent;
    })();

    return svc;
})();

$root.google = (function() {

    var google = {};

    google.protobuf = (function() {

        var protobuf = {};

        protobuf.Timestamp = (function() {

            var Timestamp = function (properties) {
                if (properties)
                    for (var keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Timestamp.prototype.seconds = $util.Long ? $util.Long.fromBits(0,0,false) : 0;
            Timestamp.prototype.nanos = 0;

            Timestamp.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.seconds != null && $Object.hasOwnProperty.call(message, "seconds") && (typeof message.seconds === "object" ? message.seconds.low || message.seconds.high : message.seconds !== 0))
                    writer.uint32(8).int64(message.seconds);
                if (message.nanos != null && $Object.hasOwnProperty.call(message, "nanos") && message.nanos !== 0)
                    writer.uint32(16).int32(message.nanos);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (var i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Timestamp.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                var end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.google.protobuf.Timestamp();
                while (reader.pos < end) {
                    var start = reader.pos;
                    var tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    var wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.int64()) === "object" ? value.low || value.high : value !== 0)
                                message.seconds = value;
                            else
                                delete message.seconds;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.nanos = value;
                            else
                                delete message.nanos;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            return Timestamp;
        })();

        return protobuf;
    })();

    return google;
})();

module.exports = $root;
