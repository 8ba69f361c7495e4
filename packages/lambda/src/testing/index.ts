export {
  awsEnvironment,
  LambdaStandIn,
  refuseAs,
  type AwsRefusal,
  type FunctionEvent,
  type StandInFunction,
} from './lambda-stand-in.js';
